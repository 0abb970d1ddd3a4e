#include "gateway/resources/email_conditions.hpp"

#include "common/rpc/timestamp.hpp"

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_length = 500;

void read_link_conditions(query_reader& query, inbox::v1::EmailFilter& filter)
{
    if (const auto has_link = query.boolean("hasLink"))
        filter.set_has_link(*has_link);
    const auto kind = query.choice("linkKind", "", {"verify", "reset", "unsubscribe", "other"});
    if (kind.empty())
        return;
    filter.set_link_kind(kind);
    if (filter.has_has_link() && !filter.has_link())
        query.fail("linkKind needs a link: leave it out, or hasLink=false");
}

void read_times(query_reader& query, inbox::v1::EmailFilter& filter)
{
    const auto since = query.time("since");
    const auto until = query.time("until");
    if (since)
        *filter.mutable_since() = rpc::to_timestamp(*since);
    if (until)
        *filter.mutable_until() = rpc::to_timestamp(*until);
    if (since && until && *until <= *since)
        query.fail("until must be later than since");
}

} // namespace

inbox::v1::EmailFilter read_conditions(query_reader& query)
{
    inbox::v1::EmailFilter filter;
    if (auto from = query.text("from", 1, max_length))
        filter.set_from(std::move(*from));
    if (auto to = query.text("to", 1, max_length))
        filter.set_to(std::move(*to));
    if (auto recipient = query.text("recipient", 1, max_length))
        filter.set_recipient(std::move(*recipient));
    if (auto subject = query.text("subject", 1, max_length))
        filter.set_subject(std::move(*subject));
    if (const auto has_code = query.boolean("hasCode"))
        filter.set_has_code(*has_code);
    read_link_conditions(query, filter);
    if (const auto has_attachment = query.boolean("hasAttachment"))
        filter.set_has_attachment(*has_attachment);
    if (const auto is_read = query.boolean("isRead"))
        filter.set_is_read(*is_read);
    read_times(query, filter);
    return filter;
}

std::string given_condition(const http::request& received, std::string_view field)
{
    for (const auto& [name, value] : received.query)
        if (name == field)
            return value;
    return {};
}

} // namespace tempinbox::gateway
