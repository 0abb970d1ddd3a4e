#include "gateway/resources/retention.hpp"

#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/inbox_limits.hpp"

namespace tempinbox::gateway {

std::optional<inbox::v1::RetentionChange> read_retention(json::object_reader& body)
{
    inbox::v1::RetentionChange change;
    const bool resets = body.has_null("retention");
    const auto given = body.object("retention");
    if (resets)
        change.set_reset(true);
    if (!given)
        return resets ? std::optional(change) : std::nullopt;
    json::object_reader fields(*given);
    const auto seconds = fields.integer("maxAgeSeconds", min_age_seconds, max_age_seconds);
    if (seconds)
        change.set_max_age_seconds(*seconds);
    else if (fields.has_null("maxAgeSeconds"))
        change.set_max_age_seconds(0);
    if (const auto when_full = fields.choice("whenFull", {"refuse", "dropOldest"}))
        change.set_when_full(*when_full == "dropOldest" ? inbox::v1::WHEN_FULL_DROP_OLDEST
                                                        : inbox::v1::WHEN_FULL_REFUSE);
    report_inner_error(body, "retention", fields);
    return change;
}

} // namespace tempinbox::gateway
