#include "gateway/mcp/api_calls.hpp"

namespace tempinbox::gateway::mcp {

api_calls::api_calls(const caller& who, const http::request& received, content_reader& contents)
    : call_(who.call),
      id_(received.id),
      peer_(received.peer),
      contents_(contents),
      account_(who.account())
{
    if (const auto key = received.header("Idempotency-Key"))
        idempotency_key_ = *key;
}

awaitable<http::response> api_calls::call(std::string method, std::string path)
{
    inner_.method = std::move(method);
    inner_.target = path;
    inner_.path = std::move(path);
    inner_.id = id_;
    inner_.peer = peer_;
    return call_(inner_);
}

awaitable<http::response> api_calls::get(std::string path, query_list query)
{
    inner_ = http::request();
    inner_.query = std::move(query);
    return call("GET", std::move(path));
}

awaitable<http::response> api_calls::send(std::string method, std::string path, std::string body)
{
    inner_ = http::request();
    inner_.body = std::move(body);
    inner_.headers.emplace_back("Content-Type", "application/json");
    if (idempotency_key_ && method == "POST")
        inner_.headers.emplace_back("Idempotency-Key", *idempotency_key_);
    return call(std::move(method), std::move(path));
}

awaitable<http::response> api_calls::post(std::string path, std::string body)
{
    return send("POST", std::move(path), std::move(body));
}

awaitable<http::response> api_calls::put(std::string path, std::string body)
{
    return send("PUT", std::move(path), std::move(body));
}

awaitable<http::response> api_calls::patch(std::string path, std::string body)
{
    return send("PATCH", std::move(path), std::move(body));
}

awaitable<http::response> api_calls::remove(std::string path)
{
    inner_ = http::request();
    return call("DELETE", std::move(path));
}

void api_calls::hang_up()
{
    hung_up_.request_stop();
    if (const auto notify = std::exchange(inner_.on_hang_up, nullptr))
        notify();
}

} // namespace tempinbox::gateway::mcp
