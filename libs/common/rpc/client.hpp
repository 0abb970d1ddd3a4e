#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/core/network.hpp"
#include "common/http/client.hpp"
#include "common/rpc/method.hpp"
#include "common/rpc/replica_resolver.hpp"
#include "common/rpc/tokens.hpp"
#include "common/runtime/host.hpp"
#include "common/tls/context_source.hpp"
#include "common/trace/span.hpp"

#include <google/protobuf/message.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tempinbox::rpc {

// How a client finds the replicas behind names, and reaches them.
struct client_settings
{
    http::sender send;      // empty: over connections of its own
    http::resolver resolve; // empty: the system's
    std::chrono::milliseconds resolve_interval{3'000};
    // A name or address that stands for many servers (a cluster's service address) spreads over
    // them with each new connection.
    std::chrono::milliseconds connection_max_age{20'000};
    // Empty: plain HTTP. Otherwise a replica's certificate is for `tls_name`, or for the name that
    // the replica was configured by. There is no way back to plain HTTP.
    tls::context_source tls;
    std::string tls_name;
};

// Calls one service over its replicas in turn (application/proto). A name stands for all its
// addresses, resolved again every few seconds while there are calls, and at once when a replica
// refuses the connection or is ending. The call then moves to the next replica, until each was
// tried once.
// Transport failures are errc::unavailable or deadline_exceeded, so a handler can pass them on;
// never throws for them. Exposes tempinbox_rpc_client_duration_seconds.
class client
{
public:
    client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials,
           client_settings chosen = {});
    ~client();
    client(const client&) = delete;

    // Waits as long as the method says.
    template <class Request, class Response>
    awaitable<result<Response>> call(method<Request, Response> called,
                                     std::type_identity_t<Request> request)
    {
        return call(called, std::move(request), called.timeout);
    }

    template <class Request, class Response>
    awaitable<result<Response>> call(method<Request, Response> called,
                                     std::type_identity_t<Request> request,
                                     std::chrono::milliseconds timeout)
    {
        Response response;
        const result<void> outcome = co_await call_replicas(called, request, response, timeout);
        if (!outcome)
            co_return outcome.error();
        co_return response;
    }

    // The same in one request with other calls of the method, for those that are cheap and come in
    // numbers: what comes while a request is under way goes in the next. `share` is whose call it
    // is, such as an account: shares take turns, so that nobody fills a request. A replica of a
    // release that takes one call at a time gets each by itself. Only for methods that may be
    // repeated or whose responses are small: if all responses together are too large, the calls of
    // those left out are sent again.
    template <class Request, class Response>
    awaitable<result<Response>> call_batched(method<Request, Response> called,
                                             std::type_identity_t<Request> request, uuid share)
    {
        Response response;
        const result<void> outcome = co_await call_together(called, request, response, share);
        if (!outcome)
            co_return outcome.error();
        co_return response;
    }

private:
    struct replica_list;
    // A request on its way, and who was asked.
    struct exchange
    {
        method_terms method;
        std::string_view content_type;
        std::string body;
        trace::context cause;
        std::chrono::steady_clock::time_point give_up;
        bool is_batch = false;
        std::function<void(const http::client_response&)> on_progress{};
        std::vector<host_port> tried{}; // in vain
        std::optional<host_port> last{};
    };
    struct batched_call
    {
        std::string request;
        trace::context cause;
        uuid share;
    };
    struct late_answer;
    struct batched_answer
    {
        result<std::string> response;
        bool is_by_itself = false; // to be called by itself: there is no response
        std::optional<host_port> replica{};
        std::shared_ptr<late_answer> late{}; // if set, the answer comes there
    };
    struct batch_on_its_way;
    struct request_bytes
    {
        std::size_t operator()(const batched_call& call) const { return call.request.size(); }
    };
    struct share_of
    {
        uuid operator()(const batched_call& call) const { return call.share; }
    };
    using call_batcher = async::batcher<batched_call, batched_answer, request_bytes, share_of>;
    using batched_answers = std::vector<batched_answer>;
    // A method's histograms by the outcome's errc, and that of good calls; each is made when first
    // needed.
    struct method_durations
    {
        std::string method;
        prometheus::Histogram* good = nullptr;
        std::array<prometheus::Histogram*, errc_count> failed{};
    };

    awaitable<result<void>> call_replicas(method_terms called,
                                          const google::protobuf::Message& request,
                                          google::protobuf::Message& response,
                                          std::chrono::milliseconds deadline);

    awaitable<result<void>> call_together(method_terms called,
                                          const google::protobuf::Message& request,
                                          google::protobuf::Message& response, uuid share);
    call_batcher& batcher_of(const method_terms& called);
    awaitable<batched_answers> send_batch(method_terms called, std::vector<batched_call> calls);
    awaitable<void> carry_batch(std::shared_ptr<batch_on_its_way> batch);
    awaitable<http::client_response> send_to_replicas(exchange& outgoing);
    http::client_request make_request(const exchange& outgoing, const replica& to,
                                      std::chrono::milliseconds left);
    trace::span begin_span(std::string_view method, const trace::context* caller);

    std::optional<replica> choose_replica(const exchange& outgoing);
    void observe(std::string_view method, const result<void>& outcome,
                 std::chrono::duration<double> took);
    void back_off(const host_port& replica);
    awaitable<http::client_response> send(http::client_request outgoing);

    runtime::host& host_;
    std::shared_ptr<replica_list> replicas_; // a look-up in progress may outlive the client
    tokens& tokens_;
    std::size_t next_ = 0;
    std::map<std::string, std::chrono::steady_clock::time_point> backoff_until_;
    http::sender send_;
    bool is_tls_;
    std::string tls_name_; // empty: that of each replica
    http::client http_;
    std::shared_ptr<std::map<std::string, std::size_t>> batches_at_; // under way, by replica
    std::chrono::steady_clock::time_point no_batches_until_{};       // a replica does not take them
    std::map<std::string, std::unique_ptr<call_batcher>, std::less<>> batchers_; // by method
    // One for each method that was called. A service has a few dozen at most, whose lengths tell
    // most of them apart: comparing them costs less than a map would.
    std::vector<method_durations> durations_;
};

} // namespace tempinbox::rpc
