#include "common/rpc/server.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "common/log/log.hpp"
#include "common/rpc/call_batch.hpp"
#include "common/rpc/codes.hpp"
#include "common/trace/current.hpp"

#include "tempinbox/rpc/v1/calls.pb.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

constexpr std::string_view proto_type = "application/proto";
constexpr std::string_view json_type = "application/json";
// Connect protocol: a timeout has at most ten digits.
constexpr std::size_t max_timeout_digits = 10;
// Of the answers to several calls in one request; one always fits.
constexpr std::size_t max_answers_bytes = 4 * 1024 * 1024;
// Then calls that have ended are answered without those that have not.
constexpr std::chrono::milliseconds slow_after{20};
// If none has ended by then, so long for the first of them.
constexpr std::chrono::milliseconds first_result_timeout{100};

http::response error_response(unsigned status, std::string_view code, std::string_view message);

http::response make_goaway()
{
    auto goaway = error_response(503, connect_code(errc::unavailable), "this replica is ending");
    goaway.set(goaway_header, "1");
    return goaway;
}

http::server_settings for_rpc(http::server_settings settings)
{
    if (settings.body_limit == http::server_settings().body_limit)
        settings.body_limit = 1024 * 1024;
    settings.tracing = http::trace_mode::internal;
    settings.goaway = make_goaway();
    return settings;
}

http::response error_response(unsigned status, std::string_view code, std::string_view message)
{
    json::writer body;
    body.begin_object().member("code", code).member("message", message).end_object();
    return http::response(status, json_type, body.take());
}

// The reason is no part of Connect: its clients skip the member.
http::response error_response(const failure& refused)
{
    json::writer body;
    body.begin_object()
        .member("code", connect_code(refused.code))
        .member("message", refused.message);
    if (refused.reason != error_reason::none)
        body.member("reason", to_string(refused.reason));
    body.end_object();
    return http::response(connect_http_status(refused.code), json_type, body.take());
}

// The media type without its parameters.
std::string_view media_type(const http::request& received)
{
    const auto given = received.header("Content-Type").value_or(std::string_view());
    return trim(given.substr(0, given.find(';')));
}

std::string_view bearer_token(const http::request& received)
{
    constexpr std::string_view scheme = "Bearer ";
    const auto given = received.header("Authorization").value_or(std::string_view());
    if (given.size() <= scheme.size() ||
        !equals_ignoring_ascii_case(given.substr(0, scheme.size()), scheme))
        return {};
    return trim(given.substr(scheme.size()));
}

bool is_timeout(std::string_view text)
{
    return !text.empty() && text.size() <= max_timeout_digits &&
           std::all_of(text.begin(), text.end(), is_digit);
}

// Before the caller gives up, so that what has ended by then is answered.
async::deadline answer_by(const http::request& received)
{
    const auto timeout = received.header("Connect-Timeout-Ms");
    if (!timeout)
        return async::deadline::never();
    std::int64_t milliseconds = 0;
    std::from_chars(timeout->data(), timeout->data() + timeout->size(), milliseconds);
    return async::deadline::after(std::chrono::milliseconds(milliseconds) * 9 / 10);
}

// nullopt if the body was read; else why not.
std::optional<std::string> read_body(const std::string& body, bool is_json,
                                     google::protobuf::Message& message)
{
    if (!is_json) {
        if (message.ParseFromString(body))
            return std::nullopt;
        return "the body is no " + message.GetTypeName();
    }
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = false;
    const auto read =
        google::protobuf::util::JsonStringToMessage(body.empty() ? "{}" : body, &message, options);
    if (read.ok())
        return std::nullopt;
    return "the body is no " + message.GetTypeName() + ": " + std::string(read.message());
}

http::response write_body(const google::protobuf::Message& message, bool is_json)
{
    if (!is_json)
        return http::response(200, proto_type, message.SerializeAsString());
    std::string text;
    const auto written = google::protobuf::util::MessageToJsonString(message, &text);
    if (!written.ok())
        throw std::runtime_error("cannot write " + message.GetTypeName() +
                                 " as JSON: " + std::string(written.message()));
    return http::response(200, json_type, std::move(text));
}

awaitable<http::response> respond_with(http::response answer)
{
    co_return answer;
}

// Without a valid token the body is not even read.
http::server_hooks requiring_token(tokens& accepted)
{
    http::server_hooks hooks;
    hooks.judge_header =
        [&accepted](const http::request& received) -> std::optional<http::response> {
        if (accepted.accepts(bearer_token(received)))
            return std::nullopt;
        return error_response(failure{errc::unauthenticated,
                                      "the call needs Authorization: Bearer with a valid token"});
    };
    return hooks;
}

} // namespace

server::server(runtime::host& host, http::server_settings settings, tokens& accepted)
    : host_(host),
      http_(
          host, for_rpc(std::move(settings)),
          [this](http::request& received) { return handle(received); }, requiring_token(accepted)),
      batched_calls_(std::make_shared<async::wait_group>(host.executor()))
{}

awaitable<void> server::drain(std::chrono::milliseconds timeout)
{
    const auto until = async::deadline::after(timeout);
    const auto calls = batched_calls_;
    co_await http_.drain(timeout);
    co_await calls->wait_until(until);
}

void server::add_raw(const std::string& method,
                     std::unique_ptr<google::protobuf::Message> prototype, raw_handler handle)
{
    methods_["/" + method] = method_entry{std::move(prototype), std::move(handle)};
}

void server::start()
{
    http_.start();
}

awaitable<http::response> server::handle(http::request& received)
{
    const auto found = methods_.find(received.path);
    if (found == methods_.end())
        return respond_with(
            error_response(404, "unimplemented", "no such method: " + quote(received.path)));
    received.route = found->first;
    if (received.method != "POST") {
        auto refusal = error_response(405, "unimplemented", "a call is a POST");
        refusal.set("Allow", "POST");
        return respond_with(std::move(refusal));
    }
    const auto type = media_type(received);
    const bool is_json = equals_ignoring_ascii_case(type, json_type);
    const bool is_batch = equals_ignoring_ascii_case(type, calls_type);
    if (!is_json && !is_batch && !equals_ignoring_ascii_case(type, proto_type)) {
        auto refusal = error_response(
            415, "invalid_argument",
            "the body must be application/proto or application/json, not " + quote(type));
        refusal.set("Accept-Post", "application/proto, application/json");
        return respond_with(std::move(refusal));
    }
    const auto encoding = received.header("Content-Encoding").value_or("identity");
    if (!equals_ignoring_ascii_case(encoding, "identity")) {
        auto refusal = error_response(415, "unimplemented",
                                      "a body must not be compressed: " + quote(encoding));
        refusal.set("Accept-Encoding", "identity");
        return respond_with(std::move(refusal));
    }
    if (const auto timeout = received.header("Connect-Timeout-Ms");
        timeout && !is_timeout(*timeout))
        return respond_with(error_response(
            failure{errc::invalid_argument, "Connect-Timeout-Ms must be up to ten digits"}));
    if (received.body_too_large)
        return respond_with(
            error_response(failure{errc::payload_too_large, "the body is too large"}));
    if (is_batch)
        return invoke_all(found->second, received, answer_by(received));
    return invoke(found->second, received, is_json);
}

awaitable<http::response> server::invoke(const method_entry& method, http::request& received,
                                         bool is_json)
{
    std::unique_ptr<google::protobuf::Message> request(method.prototype->New());
    if (const auto body_error = read_body(received.body, is_json, *request))
        co_return error_response(failure(errc::invalid_argument, *body_error));
    received.body = std::string();

    const raw_result outcome =
        co_await run(method, std::move(request), received.id, received.route);
    if (!outcome)
        co_return error_response(outcome.error());
    co_return write_body(**outcome, is_json);
}

// Calls the handler; what it throws becomes a failure.
awaitable<server::raw_result> server::run(const method_entry& method,
                                          std::unique_ptr<google::protobuf::Message> request,
                                          std::string request_id, std::string_view route)
{
    std::string error;
    bool is_dependency = false;
    try {
        co_return co_await method.handle(*request);
    } catch (const dependency_error& lost) {
        // As in the HTTP session, but a caller by RPC gets a Connect code.
        is_dependency = true;
        error = lost.what();
    } catch (const std::exception& bug) {
        error = bug.what();
    }
    log::write(is_dependency ? log::level::warning : log::level::error,
               is_dependency ? "a dependency did not answer" : "a call failed",
               {{"request_id", request_id}, {"http_route", route}, {"error", error}});
    if (is_dependency)
        co_return failure(errc::unavailable, "a part of the service cannot be reached");
    co_return failure(errc::internal, "the call failed; the request id names this case");
}

// The calls of one request while they are handled.
struct server::call_batch
{
    const method_entry& method;
    std::string request_id;
    std::string_view route; // a key of the server's methods
    v1::Calls calls;
    v1::CallResults results; // of a call that has not ended: deadline_exceeded
    std::size_t bytes = 0;   // of the answers
    async::wait_group under_way;
    const std::shared_ptr<async::wait_group> of_server;
    // Where results are sent as they come:
    std::vector<int> ended; // those that are to be sent
    std::vector<bool> has_ended;
    async::reset_event has_more; // in `ended`, or it is over
    bool is_over = false;        // nothing more is sent

    call_batch(const method_entry& called, const http::request& received,
               const boost::asio::any_io_executor& executor,
               std::shared_ptr<async::wait_group> calls_of_server)
        : method(called),
          request_id(received.id),
          route(received.route),
          under_way(executor),
          of_server(std::move(calls_of_server)),
          has_more(executor, async::reset_event::mode::automatic)
    {}

    // Ends a call whatever happens to it.
    struct ending
    {
        call_batch& batch;
        int index;

        ending(call_batch& of, int which) : batch(of), index(which) {}
        ending(const ending&) = delete;
        ~ending() { batch.end(index); }
    };

    void answer(int index, const raw_result& outcome)
    {
        auto& result = *results.mutable_results(index);
        if (!outcome) {
            result.set_code(std::string(connect_code(outcome.error().code)));
            result.set_message(outcome.error().message);
            result.set_reason(std::string(to_string(outcome.error().reason)));
            return;
        }
        const auto size = (*outcome)->ByteSizeLong();
        if (bytes > 0 && bytes + size > max_answers_bytes) {
            result.set_by_itself(true);
        } else {
            bytes += size;
            (*outcome)->SerializeToString(result.mutable_response());
        }
        result.clear_code();
    }

    void end(int index)
    {
        under_way.done();
        of_server->done();
        has_ended[static_cast<std::size_t>(index)] = true;
        if (!is_over)
            ended.push_back(index);
        has_more.set();
    }

    // The results of calls that ended since the last piece: a part of one CallResults.
    std::string take_piece()
    {
        v1::CallResults piece;
        for (const int index : ended) {
            auto& result = *piece.add_results();
            result.Swap(results.mutable_results(index));
            result.set_call_index(static_cast<std::uint32_t>(index));
        }
        ended.clear();
        return piece.SerializeAsString();
    }

    void stop()
    {
        is_over = true;
        has_more.set();
    }

    // Empty once all results were sent. At the deadline those that have not ended have failed.
    static awaitable<std::string> next_piece(std::shared_ptr<call_batch> batch,
                                             async::deadline until)
    {
        while (!batch->is_over && batch->ended.empty() && batch->under_way.count() > 0) {
            if (co_await batch->has_more.wait_until(until))
                continue;
            batch->is_over = true;
            for (int i = 0; i < batch->results.results_size(); ++i)
                if (!batch->has_ended[static_cast<std::size_t>(i)])
                    batch->ended.push_back(i);
        }
        co_return batch->take_piece();
    }
};

awaitable<http::response> server::invoke_all(const method_entry& method, http::request& received,
                                             async::deadline until)
{
    const auto batch =
        std::make_shared<call_batch>(method, received, host_.executor(), batched_calls_);
    if (!batch->calls.ParseFromString(received.body))
        co_return error_response(
            failure(errc::invalid_argument, "the body is no " + v1::Calls().GetTypeName()));
    received.body = std::string();
    const int count = batch->calls.calls_size();
    if (count < 1 || count > max_calls)
        co_return error_response(
            failure(errc::invalid_argument, "calls must be 1 to " + std::to_string(max_calls) +
                                                ", not " + std::to_string(count)));

    batch->under_way.add(static_cast<std::size_t>(count));
    batched_calls_->add(static_cast<std::size_t>(count));
    batch->has_ended.resize(static_cast<std::size_t>(count));
    // A call without an answer has failed; an empty result would be a good one.
    for (int i = 0; i < count; ++i)
        batch->results.add_results()->set_code(std::string(connect_code(errc::deadline_exceeded)));
    for (int i = 0; i < count; ++i) {
        const auto& call = batch->calls.calls(i);
        const auto cause = trace::read_context(call.traceparent(), call.tracestate());
        auto span = cause && host_.tracer().is_on()
                        ? host_.tracer().begin("rpc", trace::span_kind::server, *cause)
                        : trace::span();
        auto executor = host_.executor();
        if (span.context().is_valid())
            executor = boost::asio::any_io_executor(trace::context_executor(
                executor, std::make_shared<const trace::context>(span.context())));
        boost::asio::co_spawn(executor, invoke_one(batch, i, std::move(span)),
                              boost::asio::detached);
    }
    const bool in_pieces = batch->calls.takes_results_as_they_come();
    const auto first_until =
        in_pieces ? std::min(until, async::deadline::after(slow_after)) : until;
    bool have_all_ended = co_await batch->under_way.wait_until(first_until);
    if (!have_all_ended && in_pieces && batch->ended.empty()) {
        // Calls that share a slow statement end together, and then need no pieces.
        co_await batch->has_more.wait_until(
            std::min(until, async::deadline::after(first_result_timeout)));
        have_all_ended = batch->under_way.count() == 0;
    }
    // A call that takes longer goes on in any case; only where all come together it costs the
    // others their time.
    if (have_all_ended || !in_pieces)
        co_return http::response(200, calls_type, batch->results.SerializeAsString());
    http::response response(200, calls_type, std::string());
    response.source = std::make_shared<const http::body_source>(
        http::body_source{[batch, until] { return call_batch::next_piece(batch, until); },
                          [batch] { batch->stop(); }});
    co_return response;
}

awaitable<void> server::invoke_one(std::shared_ptr<call_batch> batch, int index, trace::span span)
{
    const call_batch::ending ending(*batch, index);
    std::unique_ptr<google::protobuf::Message> request(batch->method.prototype->New());
    const auto body_error = read_body(batch->calls.calls(index).request(), false, *request);
    raw_result outcome = failure(errc::invalid_argument, body_error.value_or(""));
    if (!body_error)
        outcome = co_await run(batch->method, std::move(request), batch->request_id, batch->route);
    batch->answer(index, outcome);
    if (span.is_recording()) {
        const auto method = batch->route.substr(1);
        const auto status = outcome ? 200 : connect_http_status(outcome.error().code);
        span.rename(method);
        describe_method(span, method);
        span.set("http.response.status_code", status);
        if (status >= 500)
            span.fail(std::to_string(status));
        span.end();
    }
}

} // namespace tempinbox::rpc
