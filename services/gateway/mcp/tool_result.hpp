#pragma once

#include "common/core/errors.hpp"
#include "common/http/message.hpp"
#include "common/json/value.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway::mcp {

// What a tool gives: a JSON object by its outputSchema, or a sentence that says what to do.
struct tool_result
{
    bool is_error = false;
    std::string json; // empty for an error
    std::string text; // of an error

    static tool_result of_json(std::string json);
    static tool_result of_error(std::string text);
};

// A refusal by an operation of /v1, in its words.
tool_result refused_by_operation(const http::response& response);
// What an operation would have refused by such a failure.
tool_result refused(const failure& reason);

// The body of an operation that answered 2xx.
json::value parse_response(std::string_view body);

// The `result` of tools/call, the same fields in every revision; `more` is JSON of further members
// or empty.
std::string call_tool_result(const tool_result& result, std::string_view more);

} // namespace tempinbox::gateway::mcp
