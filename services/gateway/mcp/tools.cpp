#include "gateway/mcp/tools.hpp"

#include "common/core/embedded_file.hpp"
#include "common/core/ids.hpp"
#include "common/json/object_reader.hpp"
#include "common/json/writer.hpp"
#include "gateway/mcp/mail_content.hpp"
#include "gateway/resources/inbox_limits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace tempinbox::mcp_tools {
extern const std::span<const embedded_file> files; // made from tools.json by the build
}

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::size_t max_id = 100;

tool_result of_response(const http::response& response)
{
    if (response.status >= 300)
        return refused_by_operation(response);
    return tool_result::of_json(response.body);
}

// The id of an argument, safe to stand in a path.
template <class Id>
std::string read_id(json::object_reader& arguments, const char* name)
{
    auto text = arguments.required_text(name, 1, max_id);
    if (text.empty())
        return text;
    const auto parsed = Id::parse(text);
    if (!parsed)
        arguments.fail(parsed.error().message);
    return text;
}

awaitable<tool_result> create_inbox(api_calls& calls, const json::value& arguments)
{
    co_return of_response(co_await calls.post("/v1/inboxes", arguments.to_string()));
}

// Its arguments are the query of the operation, which checks them.
awaitable<tool_result> list_inboxes(api_calls& calls, const json::value& arguments)
{
    query_list query;
    for (const auto& [name, value] : arguments.members()) {
        if (value.is_null())
            continue;
        if (!value.is_string() && !value.is_number() && !value.is_bool())
            co_return tool_result::of_error(name + " must be a string or a number, not " +
                                            std::string(value.kind()));
        query.emplace_back(name, value.is_string() ? value.text() : value.to_string());
    }
    co_return of_response(co_await calls.get("/v1/inboxes", std::move(query)));
}

awaitable<tool_result> read_email(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    const auto id = read_id<email_id>(from, "emailId");
    const auto length = from.integer("maxCharacters", min_text_length, max_text_length)
                            .value_or(standard_text_length);
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    auto response = co_await calls.get("/v1/emails/" + id);
    if (response.status != 200)
        co_return refused_by_operation(response);
    auto read = co_await calls.read<std::string>(
        [body = std::move(response.body), max = static_cast<std::size_t>(length)] {
            return whole_email(parse_response(body), max);
        });
    if (!read)
        co_return refused(read.error());
    co_return tool_result::of_json(std::move(*read));
}

awaitable<tool_result> extend_inbox(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    const auto id = read_id<inbox_id>(from, "inboxId");
    // The operation knows the plan's maximum.
    const auto ttl = from.integer("ttlSeconds", min_ttl, std::numeric_limits<std::int64_t>::max());
    if (!ttl)
        from.fail("ttlSeconds is required: seconds from now on, from 60 to the plan's maximum");
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    json::writer body;
    body.begin_object().member("ttlSeconds", *ttl).end_object();
    co_return of_response(co_await calls.patch("/v1/inboxes/" + id, body.take()));
}

awaitable<tool_result> delete_inbox(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    const auto id = read_id<inbox_id>(from, "inboxId");
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    co_return of_response(co_await calls.remove("/v1/inboxes/" + id));
}

const std::array all_tools{
    tool{"create_inbox", create_inbox, {}},
    tool{"list_inboxes", list_inboxes, {}},
    tool{"wait_for_email", nullptr, mail_wait::purpose::email},
    tool{"get_code", nullptr, mail_wait::purpose::code},
    tool{"get_link", nullptr, mail_wait::purpose::link},
    tool{"read_email", read_email, {}},
    tool{"extend_inbox", extend_inbox, {}},
    tool{"delete_inbox", delete_inbox, {}},
};

} // namespace

std::span<const tool> tools()
{
    return all_tools;
}

const tool* find_tool(std::string_view name)
{
    const auto found = std::find_if(all_tools.begin(), all_tools.end(),
                                    [name](const tool& one) { return one.name == name; });
    return found == all_tools.end() ? nullptr : &*found;
}

std::string_view tools_json()
{
    return mcp_tools::files.front().content;
}

} // namespace tempinbox::gateway::mcp
