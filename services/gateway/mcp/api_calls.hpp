#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "gateway/api/caller.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::gateway::mcp {

using query_list = std::vector<std::pair<std::string, std::string>>;

// The operations of /v1 that one message of MCP calls, one after the other, in this process and as
// the key of the message: with the checks, limits and errors that they have there. Outlives each
// call; kept by whoever may hang up.
class api_calls
{
public:
    // `received`: the message of MCP. An Idempotency-Key of it is that of the POST it leads to.
    api_calls(operation_call call, const http::request& received);
    api_calls(const api_calls&) = delete;

    awaitable<http::response> get(std::string path, query_list query = {});
    awaitable<http::response> post(std::string path, std::string body);
    awaitable<http::response> patch(std::string path, std::string body);
    awaitable<http::response> remove(std::string path);

    // The client is gone: ends a call that waits. Whoever would make another looks first.
    void hang_up();
    bool is_hung_up() const { return is_hung_up_; }

private:
    awaitable<http::response> call(std::string method, std::string path);
    awaitable<http::response> send(std::string method, std::string path, std::string body);

    operation_call call_;
    std::string id_;
    boost::asio::ip::address peer_;
    std::optional<std::string> idempotency_key_;
    http::request inner_; // of the call under way
    bool is_hung_up_ = false;
};

} // namespace tempinbox::gateway::mcp
