#include "gateway/resources/email_conditions.hpp"

#include "common/core/text.hpp"
#include "common/rpc/timestamp.hpp"
#include "common/rules/rules.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_length = 500;
constexpr std::string_view header_prefix = "header.";
constexpr std::size_t max_headers = 4;
constexpr std::size_t max_header_name_length = 100;

void read_link_conditions(query_reader& query, inbox::v1::EmailFilter& filter)
{
    if (const auto has_link = query.boolean("hasLink"))
        filter.set_has_link(*has_link);
    const auto kind = query.choice("linkKind", "", {"verify", "reset", "unsubscribe", "other"});
    if (kind.empty())
        return;
    filter.set_link_kind(kind);
    if (filter.has_has_link() && !filter.has_link())
        query.fail("linkKind must be left out with hasLink=false");
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

// RFC 5322 3.6.8, ftext: printable ASCII but for the colon.
bool is_header_name(std::string_view name)
{
    return !name.empty() && name.size() <= max_header_name_length &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return c > ' ' && c < 0x7f && c != ':'; });
}

// By their names, so that filters that differ in nothing else are one.
void read_headers(query_reader& query, inbox::v1::EmailFilter& filter)
{
    std::map<std::string, std::string> values;
    for (const auto& parameter : query.names(header_prefix)) {
        const auto name = to_lower_ascii(parameter.substr(header_prefix.size()));
        auto value = query.text(parameter, 1, max_length);
        if (!is_header_name(name))
            query.fail(quote_name(parameter) +
                       " must be header. and a header's name of 1 to 100 characters");
        if (!values.emplace(name, value.value_or("")).second)
            query.fail(parameter + " is given more than once");
    }
    if (values.size() > max_headers)
        query.fail("header." + values.rbegin()->first +
                   " is one too many: at most 4 headers can be given");
    for (auto& [name, value] : values) {
        auto& header = *filter.add_headers();
        header.set_name(name);
        header.set_value(std::move(value));
    }
}

void read_text(query_reader& query, inbox::v1::EmailFilter& filter)
{
    auto text = query.text("text", 1, max_length);
    if (!text)
        return;
    if (rules::fold_text(*text).empty())
        query.fail("text must have a character that is shown, not " + quote(*text));
    filter.set_text(std::move(*text));
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
    read_headers(query, filter);
    read_text(query, filter);
    return filter;
}

std::string given_condition(const http::request& received, std::string_view field)
{
    for (const auto& [name, value] : received.query)
        if (name == field ||
            (field.starts_with(header_prefix) && equals_ignoring_ascii_case(name, field)))
            return value;
    return {};
}

} // namespace tempinbox::gateway
