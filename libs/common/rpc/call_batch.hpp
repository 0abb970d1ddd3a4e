#pragma once

#include "common/trace/span.hpp"

#include <string_view>

namespace tempinbox::rpc {

// The type of a body with several calls of one method: tempinbox/rpc/v1/calls.proto.
inline constexpr std::string_view calls_type = "application/vnd.tempinbox.calls";
// In one request.
inline constexpr int max_calls = 100;

// Names a call's span. Semantic conventions, "RPC"; `method` is `package.Service/Method`.
inline void describe_method(trace::span& span, std::string_view method)
{
    const auto slash = method.find('/');
    span.set("rpc.system", "connect_rpc");
    span.set("rpc.service", method.substr(0, slash));
    span.set("rpc.method", method.substr(slash == std::string_view::npos ? 0 : slash + 1));
}

} // namespace tempinbox::rpc
