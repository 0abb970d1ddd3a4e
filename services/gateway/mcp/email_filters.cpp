#include "gateway/mcp/email_filters.hpp"

#include <utility>

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::size_t max_text = 500;
constexpr std::size_t max_headers = 4;
constexpr std::size_t max_header_name = 100;

void read_text(json::object_reader& arguments, const char* name, query_list& query)
{
    if (auto text = arguments.text(name, 1, max_text))
        query.emplace_back(name, std::move(*text));
}

void read_flag(json::object_reader& arguments, const char* name, query_list& query)
{
    if (const auto value = arguments.boolean(name))
        query.emplace_back(name, *value ? "true" : "false");
}

} // namespace

void read_filters(json::object_reader& arguments, query_list& query, const own_filters& own)
{
    for (const auto* name : {"from", "to", "recipient", "subject", "since", "until", "text"})
        read_text(arguments, name, query);
    if (!own.code)
        read_flag(arguments, "hasCode", query);
    if (!own.link) {
        read_flag(arguments, "hasLink", query);
        if (auto kind = arguments.choice("linkKind", {"verify", "reset", "unsubscribe", "other"}))
            query.emplace_back("linkKind", std::move(*kind));
    }
    for (const auto* name : {"hasAttachment", "isRead"})
        read_flag(arguments, name, query);
    if (auto headers = arguments.text_map("headers", max_headers, max_header_name, max_text))
        for (auto& [name, value] : *headers)
            query.emplace_back("header." + name, std::move(value));
}

} // namespace tempinbox::gateway::mcp
