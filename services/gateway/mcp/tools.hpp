#pragma once

#include "common/core/awaitable.hpp"
#include "common/json/value.hpp"
#include "gateway/mcp/api_calls.hpp"
#include "gateway/mcp/mail_wait.hpp"
#include "gateway/mcp/tool_result.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace tempinbox::gateway::mcp {

// A tool that calls operations of /v1 and is done.
using tool_function = awaitable<tool_result> (*)(api_calls& calls, const json::value& arguments);

// The tools of tools.json in its order, each with what it does: a function, or a wait.
struct tool
{
    std::string_view name;
    tool_function call = nullptr;
    std::optional<mail_wait::purpose> waits_for;
};
std::span<const tool> tools();
// Null if there is none of that name.
const tool* find_tool(std::string_view name);

// Whether an argument, or a field of one, is left out: language models write null and "" for that.
bool is_empty(const json::value& argument);

// tools.json: the array of `tools/list`.
std::string_view tools_json();

} // namespace tempinbox::gateway::mcp
