#pragma once

#include "common/async/deadline.hpp"
#include "common/async/wait_group.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/server.hpp"
#include "common/rpc/method.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/host.hpp"
#include "common/trace/span.hpp"

#include <google/protobuf/message.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

namespace tempinbox::rpc {

// Unary calls in the Connect protocol's shape: POST /package.Service/Method, application/proto or
// application/json both ways, Connect's error body. Each call needs `Authorization: Bearer
// <token>`; without it the call is refused before its body is read. Unknown methods: unimplemented
// (404); bad bodies: invalid_argument. If a handler throws, the code is internal, or unavailable
// for a dependency_error; both are logged once. A caller's Connect-Timeout-Ms does not stop a
// handler.
//
// Several calls of a method may come in one request (call_batch.hpp). They are handled at the same
// time, each in its own trace, and answered together once all have ended, or shortly before
// Connect-Timeout-Ms is over: who has not ended by then is answered deadline_exceeded. Answers that
// together would be too large are left out: the caller asks for them one by one.
class server
{
public:
    // `accepted` outlives the server. A body limit left at HTTP's default becomes 1 MiB.
    server(runtime::host& host, http::server_settings settings, tokens& accepted);

    // Before start.
    template <class Request, class Response>
    void add(const method<Request, Response>& served,
             std::type_identity_t<std::function<awaitable<result<Response>>(Request)>> handle)
    {
        add_raw(std::string(served.path), std::make_unique<Request>(),
                [handle = std::move(handle)](google::protobuf::Message& request) {
                    return call<Request, Response>(&handle,
                                                   std::move(static_cast<Request&>(request)));
                });
    }

    // The same for a member function of `handlers`, which outlive the server.
    template <class Request, class Response, class Handlers>
    void add(const method<Request, Response>& served, Handlers& handlers,
             awaitable<result<Response>> (Handlers::*handle)(Request))
    {
        add(served, [&handlers, handle](Request request) {
            return (handlers.*handle)(std::move(request));
        });
    }

    void start();
    host_port local_address() const { return http_.local_address(); }
    // Waits for the calls under way, those that outlived their request included.
    awaitable<void> drain(std::chrono::milliseconds timeout);
    void stop() { http_.stop(); }

private:
    using raw_result = result<std::shared_ptr<google::protobuf::Message>>;
    using raw_handler = std::function<awaitable<raw_result>(google::protobuf::Message&)>;

    template <class Request, class Response>
    static awaitable<raw_result>
    call(const std::function<awaitable<result<Response>>(Request)>* handle, Request request)
    {
        result<Response> outcome = co_await (*handle)(std::move(request));
        if (!outcome)
            co_return outcome.error();
        std::shared_ptr<google::protobuf::Message> message =
            std::make_shared<Response>(std::move(*outcome));
        co_return message;
    }

    void add_raw(const std::string& method, std::unique_ptr<google::protobuf::Message> prototype,
                 raw_handler handle);
    struct method_entry
    {
        std::unique_ptr<google::protobuf::Message> prototype;
        raw_handler handle;
    };
    struct call_batch;

    awaitable<http::response> handle(http::request& received);
    awaitable<http::response> invoke(const method_entry& method, http::request& received,
                                     bool is_json);
    awaitable<http::response> invoke_all(const method_entry& method, http::request& received,
                                         async::deadline until);
    static awaitable<void> invoke_one(std::shared_ptr<call_batch> batch, int index,
                                      trace::span span);
    static awaitable<raw_result> run(const method_entry& method,
                                     std::unique_ptr<google::protobuf::Message> request,
                                     std::string request_id, std::string_view route);

    runtime::host& host_;
    std::map<std::string, method_entry, std::less<>> methods_;
    http::server http_;
    std::shared_ptr<async::wait_group> batched_calls_; // under way
};

} // namespace tempinbox::rpc
