#include "gateway/mcp/tool_result.hpp"

#include "common/json/writer.hpp"

namespace tempinbox::gateway::mcp {
namespace {

// Of the gateway's own responses: an email with its text and HTML, 2 MiB each, all escaped.
constexpr json::limits response_limits{64 * 1024 * 1024, 32};

} // namespace

tool_result tool_result::of_json(std::string json)
{
    tool_result made;
    made.json = std::move(json);
    return made;
}

tool_result tool_result::of_error(std::string text)
{
    tool_result made;
    made.is_error = true;
    made.text = std::move(text);
    return made;
}

tool_result refused_by_operation(const http::response& response)
{
    const auto body = json::value::parse(response.body, response_limits);
    const auto message = body ? body->find("message") : std::nullopt;
    auto text = message && message->is_string() ? message->text()
                                                : std::string(http::status_name(response.status));
    if (const auto seconds = http::find_header(response.headers, "Retry-After"))
        text += ". Try again in " + std::string(*seconds) + " s.";
    return tool_result::of_error(std::move(text));
}

tool_result refused(const failure& reason)
{
    return refused_by_operation(http::error_response(reason));
}

json::value parse_response(std::string_view body)
{
    return json::value::parse(body, response_limits).value();
}

std::string call_tool_result(const tool_result& result, std::string_view more)
{
    json::writer out;
    out.begin_object();
    out.key("content").begin_array().begin_object();
    out.member("type", "text").member("text", result.is_error ? result.text : result.json);
    out.end_object().end_array();
    if (!result.is_error)
        out.key("structuredContent").raw(result.json);
    out.member("isError", result.is_error);
    auto json = out.end_object().take();
    if (!more.empty())
        json.insert(json.size() - 1, "," + std::string(more));
    return json;
}

} // namespace tempinbox::gateway::mcp
