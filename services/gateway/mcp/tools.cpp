#include "gateway/mcp/tools.hpp"

#include "common/core/embedded_file.hpp"
#include "common/core/ids.hpp"
#include "common/faults/step.hpp"
#include "common/json/object_reader.hpp"
#include "common/json/writer.hpp"
#include "gateway/mcp/email_filters.hpp"
#include "gateway/mcp/fence.hpp"
#include "gateway/mcp/mail_content.hpp"
#include "gateway/resources/inbox_limits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::mcp_tools {
extern const std::span<const embedded_file> files; // made from tools.json by the build
}

namespace tempinbox::gateway::mcp {
namespace {

constexpr std::size_t max_id = 100;
constexpr std::size_t max_tag = 50;
constexpr std::size_t max_cursor = 500;
constexpr std::int64_t max_list = 100;

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

// Which emails to list: the path and the query of the operation.
std::pair<std::string, query_list> read_list(json::object_reader& arguments)
{
    const auto inbox = arguments.text("inboxId", 1, max_id);
    if (inbox)
        if (const auto parsed = inbox_id::parse(*inbox); !parsed)
            arguments.fail(parsed.error().message);
    query_list query;
    read_filters(arguments, query);
    if (auto tag = arguments.text("tag", 1, max_tag)) {
        if (inbox)
            arguments.fail("tag is for all inboxes: leave out inboxId, or tag");
        query.emplace_back("tag", std::move(*tag));
    }
    constexpr auto max = std::numeric_limits<std::int64_t>::max();
    if (const auto after = arguments.integer("after", 0, max); after.value_or(0) > 0)
        query.emplace_back("after", std::to_string(*after));
    if (const auto limit = arguments.integer("limit", 1, max_list))
        query.emplace_back("limit", std::to_string(*limit));
    if (auto cursor = arguments.text("cursor", 1, max_cursor))
        query.emplace_back("cursor", std::move(*cursor));
    if (auto order = arguments.choice("order", {"desc", "asc"}))
        query.emplace_back("order", std::move(*order));
    return {inbox ? "/v1/inboxes/" + *inbox + "/emails" : "/v1/emails", std::move(query)};
}

std::string found_emails(const json::value& page)
{
    fence marks;
    json::writer out;
    out.begin_object();
    marks.put_notice(out);
    out.key("emails").begin_array();
    for (const auto& email : page["emails"].items())
        put_summary(out, email, marks);
    out.end_array();
    out.key("nextCursor").raw(page["nextCursor"].to_string());
    out.key("searched");
    if (page.find("searched"))
        out.raw(page["searched"].to_string());
    else
        out.null();
    marks.put_hidden(out);
    out.end_object();
    return out.take();
}

awaitable<tool_result> find_emails(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    auto [path, query] = read_list(from);
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    auto response = co_await calls.get(std::move(path), std::move(query));
    if (response.status != 200)
        co_return refused_by_operation(response);
    auto read = co_await calls.read<std::string>(
        [body = std::move(response.body)] { return found_emails(parse_response(body)); });
    if (!read)
        co_return refused(read.error());
    co_return tool_result::of_json(std::move(*read));
}

// The body of the operation, which checks the steps.
std::string read_steps(json::object_reader& arguments)
{
    const auto steps = arguments.objects("steps", faults::max_steps);
    if (!steps)
        arguments.fail("steps is required: an array of at most " +
                       std::to_string(faults::max_steps) + " objects; [] ends the faults");
    json::writer body;
    body.begin_object().key("steps").begin_array();
    for (const auto& step : steps.value_or(std::vector<json::value>())) {
        body.begin_object();
        for (const auto& [name, field] : step.members())
            if (!is_empty(field))
                body.key(name).raw(field.to_string());
        body.end_object();
    }
    body.end_array().end_object();
    return body.take();
}

awaitable<tool_result> set_faults(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    const auto id = read_id<inbox_id>(from, "inboxId");
    auto body = read_steps(from);
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    co_return of_response(co_await calls.put("/v1/inboxes/" + id + "/faults", std::move(body)));
}

awaitable<tool_result> get_faults(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    const auto id = read_id<inbox_id>(from, "inboxId");
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    co_return of_response(co_await calls.get("/v1/inboxes/" + id + "/faults"));
}

awaitable<tool_result> sender_report(api_calls& calls, const json::value& arguments)
{
    json::object_reader from(arguments);
    const auto id = read_id<inbox_id>(from, "inboxId");
    if (const auto all_known = from.finish(); !all_known)
        co_return tool_result::of_error(all_known.error().message);
    auto response = co_await calls.get("/v1/inboxes/" + id + "/sender-report");
    if (response.status != 200)
        co_return refused_by_operation(response);
    auto read = co_await calls.read<std::string>(
        [body = std::move(response.body)] { return short_sender_report(parse_response(body)); });
    if (!read)
        co_return refused(read.error());
    co_return tool_result::of_json(std::move(*read));
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
    tool{"find_emails", find_emails, {}},
    tool{"set_faults", set_faults, {}},
    tool{"get_faults", get_faults, {}},
    tool{"sender_report", sender_report, {}},
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

bool is_empty(const json::value& argument)
{
    return argument.is_null() || (argument.is_string() && argument.text().empty());
}

std::string_view tools_json()
{
    return mcp_tools::files.front().content;
}

} // namespace tempinbox::gateway::mcp
