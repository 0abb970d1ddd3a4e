#include "webhook-dispatcher/storage/event_kind.hpp"

#include "common/core/text.hpp"

namespace tempinbox::webhooks {

std::string_view to_string(event_kind kind)
{
    switch (kind) {
    case event_kind::email_received:
        return "email.received";
    case event_kind::inbox_created:
        return "inbox.created";
    case event_kind::inbox_expired:
        return "inbox.expired";
    }
    return {};
}

result<event_kind> parse_event_kind(std::string_view text)
{
    for (const auto kind : all_event_kinds)
        if (to_string(kind) == text)
            return kind;
    return failure{errc::invalid_argument,
                   "must be email.received, inbox.created or inbox.expired, not " + quote(text)};
}

std::vector<std::string> event_set::names() const
{
    std::vector<std::string> found;
    for (const auto kind : all_event_kinds)
        if (contains(kind))
            found.emplace_back(to_string(kind));
    return found;
}

result<event_set> read_event_set(const std::vector<std::string>& names)
{
    if (names.empty())
        return event_set::all();
    event_set set;
    for (const auto& name : names) {
        const auto kind = parse_event_kind(name);
        if (!kind)
            return failure{errc::invalid_argument, "events " + kind.error().message};
        set.add(*kind);
    }
    return set;
}

} // namespace tempinbox::webhooks
