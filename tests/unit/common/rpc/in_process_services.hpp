#pragma once

#include "common/json/writer.hpp"
#include "common/rpc/client.hpp"
#include "common/rpc/codes.hpp"
#include "unit/common/scratch_folder.hpp"

#include <functional>
#include <map>
#include <string>
#include <type_traits>

namespace tempinbox::testing {

// Services in the test's own process, by address and method: what RPC clients reach without a
// socket, so that a response comes as soon as its handler has it. They take one call at a time, as
// a release before batches did. Outlives its clients.
class in_process_services
{
public:
    in_process_services() : tokens_(folder_.write("tokens", "a-token-for-the-unit-tests\n")) {}
    in_process_services(const in_process_services&) = delete;

    // An answer for clients whose address does not matter.
    static host_port anywhere() { return host_port("127.0.0.1", 1); }

    template <class Request, class Response>
    void add(const rpc::method<Request, Response>& served,
             std::type_identity_t<std::function<awaitable<result<Response>>(Request)>> handle,
             const host_port& at = anywhere())
    {
        handlers_["http://" + at.text() + "/" + std::string(served.path)] =
            [handle = std::move(handle)](std::string body) {
                return respond<Request, Response>(&handle, std::move(body));
            };
    }

    rpc::tokens& tokens() { return tokens_; }
    rpc::client_settings client_settings()
    {
        rpc::client_settings chosen;
        chosen.send = [this](http::client_request outgoing) { return send(std::move(outgoing)); };
        return chosen;
    }

private:
    using handler = std::function<awaitable<http::client_response>(std::string body)>;

    template <class Request, class Response>
    static awaitable<http::client_response>
    respond(const std::function<awaitable<result<Response>>(Request)>* handle, std::string body)
    {
        Request request;
        request.ParseFromString(body);
        const result<Response> outcome = co_await (*handle)(std::move(request));
        http::client_response response;
        response.is_sent = true;
        response.status = 200;
        if (outcome) {
            response.body = outcome->SerializeAsString();
            co_return response;
        }
        response.status = rpc::connect_http_status(outcome.error().code);
        json::writer error;
        error.begin_object().member("code", rpc::connect_code(outcome.error().code));
        error.member("message", outcome.error().message).end_object();
        response.body = error.take();
        co_return response;
    }

    awaitable<http::client_response> send(http::client_request outgoing)
    {
        const auto found = handlers_.find(outgoing.url);
        if (found == handlers_.end())
            return refuse(outgoing.url);
        if (http::find_header(outgoing.headers, "Content-Type") != "application/proto")
            return refuse_type();
        return found->second(std::move(outgoing.body));
    }
    static awaitable<http::client_response> refuse(std::string url)
    {
        http::client_response response;
        response.error = http::exchange_error::connect;
        response.error_text = "nobody serves " + url;
        co_return response;
    }

    static awaitable<http::client_response> refuse_type()
    {
        http::client_response response;
        response.is_sent = true;
        response.status = 415;
        co_return response;
    }

    scratch_folder folder_;
    rpc::tokens tokens_;
    std::map<std::string, handler> handlers_;
};

} // namespace tempinbox::testing
