#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "gateway/mcp/content_reader.hpp"
#include "gateway/routes/caller.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::gateway::mcp {

using query_list = std::vector<std::pair<std::string, std::string>>;

// The operations of /v1 that one message of MCP calls, one after the other, in this process and as
// the key of the message: with the checks, limits and errors that they have there; and the readings
// of what they answer. Outlives each call; kept by whoever may hang up.
class api_calls
{
public:
    // `received`: the message of MCP. An Idempotency-Key of it is that of the POST it leads to.
    // `contents` outlives this.
    api_calls(const caller& who, const http::request& received, content_reader& contents);
    api_calls(const api_calls&) = delete;

    awaitable<http::response> get(std::string path, query_list query = {});
    awaitable<http::response> post(std::string path, std::string body);
    awaitable<http::response> put(std::string path, std::string body);
    awaitable<http::response> patch(std::string path, std::string body);
    awaitable<http::response> remove(std::string path);

    // What the job returns, which reads mail and owns what it reads. It is run outside of the loop.
    template <class T>
    awaitable<result<T>> read(std::function<T()> job)
    {
        return contents_.read<T>(account_, hung_up_.get_token(), std::move(job));
    }

    // The client is gone: ends a call that waits. Whoever would make another looks first.
    void hang_up();
    bool is_hung_up() const { return hung_up_.stop_requested(); }

private:
    awaitable<http::response> call(std::string method, std::string path);
    awaitable<http::response> send(std::string method, std::string path, std::string body);

    operation_call call_;
    std::string id_;
    boost::asio::ip::address peer_;
    std::optional<std::string> idempotency_key_;
    http::request inner_; // of the call under way
    content_reader& contents_;
    account_id account_;
    std::stop_source hung_up_;
};

} // namespace tempinbox::gateway::mcp
