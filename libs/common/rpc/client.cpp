#include "common/rpc/client.hpp"

#include "common/json/value.hpp"
#include "common/rpc/call_batch.hpp"
#include "common/rpc/codes.hpp"
#include "common/trace/current.hpp"

#include "tempinbox/rpc/v1/calls.pb.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The largest message that a setting or a plan allows (60 MiB: mail-ingest's settings,
// tempinboxctl), plus its envelope.
constexpr std::uint64_t max_response_bytes = 64 * 1024 * 1024;
// A replica that could not be reached is tried last for this long.
constexpr milliseconds failure_backoff{1'000};
// After a replica of a release that takes one call at a time was met.
constexpr milliseconds no_batches_for{5'000};

constexpr std::string_view proto_type = "application/proto";
// Of a field of CallResults: length-delimited.
constexpr std::uint32_t result_tag = v1::CallResults::kResultsFieldNumber << 3 | 2;

// A slow request holds nobody up: the next begins meanwhile, at the replica with the fewest. Well
// below the largest body of a server.
constexpr async::batch_policy batches{
    .max_in_flight = 8, .slow_after = milliseconds(10), .max_weight = std::size_t{256} * 1024};

http::client_settings http_settings(const client_settings& chosen)
{
    http::client_settings settings;
    settings.connect_timeout = milliseconds(1'000);
    settings.idle_timeout = milliseconds(60'000);
    settings.connections_per_host = 256;
    settings.body_limit = max_response_bytes;
    settings.connection_max_age = chosen.connection_max_age;
    settings.tls = chosen.tls;
    settings.resolve = chosen.resolve; // for a name that was not resolved yet
    return settings;
}

failure transport_failure(const http::client_response& http_response, std::string_view method)
{
    const auto code = http_response.error == http::exchange_error::timeout ? errc::deadline_exceeded
                                                                           : errc::unavailable;
    return failure(code, std::string(method) + ": " + http_response.error_text);
}

// A body that is not Connect's comes from an intermediary; only its status is usable.
failure read_error(const http::client_response& http_response, std::string_view method)
{
    const auto body = json::value::parse(http_response.body);
    const auto code = body ? body->find("code") : std::nullopt;
    const auto message = body ? body->find("message") : std::nullopt;
    const auto reason = body ? body->find("reason") : std::nullopt;
    if (code && code->is_string())
        return failure(
            code_from_connect(code->text()),
            message && message->is_string() ? message->text() : std::string(),
            error_reason_of(reason && reason->is_string() ? reason->text() : std::string()));
    const bool is_passing = http_response.status == 429 || http_response.status == 502 ||
                            http_response.status == 503 || http_response.status == 504;
    return failure(is_passing ? errc::unavailable : errc::internal,
                   std::string(method) + ": HTTP status " + std::to_string(http_response.status));
}

result<std::string> read_body(http::client_response http_response, std::string_view method)
{
    if (http_response.error != http::exchange_error::none)
        return transport_failure(http_response, method);
    if (http_response.status == 0)
        return failure(errc::deadline_exceeded, std::string(method) + ": no time was left");
    if (http_response.status != 200)
        return read_error(http_response, method);
    return std::move(http_response.body);
}

// Results of a batch that come one after the other; a response of a known length comes at once.
bool is_in_pieces(const http::client_response& response)
{
    return response.status == 200 && !response.header("Content-Length");
}

result<void> parse(const result<std::string>& body, std::string_view method,
                   google::protobuf::Message& response)
{
    if (!body)
        return body.error();
    if (!response.ParseFromString(*body))
        return failure(errc::internal,
                       std::string(method) + ": the answer is no " + response.GetTypeName());
    return {};
}

// The call's batch was not answered in time, or could not be sent at all.
result<void> unanswered(std::string_view method, clock::time_point give_up)
{
    if (clock::now() >= give_up)
        return failure(errc::deadline_exceeded, std::string(method) + ": no time was left");
    return failure(errc::unavailable, std::string(method) + ": the call was not sent");
}

// Semantic conventions, "RPC". A refusal that the caller brought about is no error of the call.
void describe(trace::span& span, std::string_view method, const std::vector<host_port>& tried,
              const std::optional<host_port>& last, const result<void>& outcome)
{
    if (!span.is_recording())
        return;
    describe_method(span, method);
    if (const auto* replica = last ? &*last : tried.empty() ? nullptr : &tried.back()) {
        span.set("server.address", replica->host);
        span.set("server.port", replica->port);
    }
    if (outcome)
        return;
    const auto code = connect_code(outcome.error().code);
    span.set("rpc.connect_rpc.error_code", code);
    if (connect_http_status(outcome.error().code) >= 500)
        span.fail(code, outcome.error().message);
}

// Counts a batch at its replica while it is there. At the process's end it may outlive the client.
class busy_replica
{
public:
    using counts = std::map<std::string, std::size_t>;

    // `replica` is empty for what is no batch.
    busy_replica(std::shared_ptr<counts> all, std::string replica)
        : all_(std::move(all)),
          replica_(std::move(replica))
    {
        if (!replica_.empty())
            ++(*all_)[replica_];
    }
    ~busy_replica()
    {
        const auto mine = all_->find(replica_);
        if (mine != all_->end() && --mine->second == 0)
            all_->erase(mine);
    }
    busy_replica(const busy_replica&) = delete;

private:
    std::shared_ptr<counts> all_;
    std::string replica_;
};

} // namespace

// The known replicas, and the look-up of their names.
struct client::replica_list
{
    replica_list(runtime::host& host, std::vector<host_port> configured,
                 const client_settings& chosen)
        : interval(chosen.resolve_interval),
          known(configured.begin(), configured.end()),
          resolver(
              host, std::move(configured),
              [this](const std::vector<replica>& found) { known = found; }, chosen.resolve),
          has_names(resolver.has_names())
    {}

    static void refresh_if_due(const std::shared_ptr<replica_list>& self, runtime::host& host)
    {
        if (!self->has_names || self->is_refreshing || clock::now() < self->next_refresh)
            return;
        self->is_refreshing = true;
        boost::asio::co_spawn(host.executor(), refresh(self), boost::asio::detached);
    }

    static awaitable<void> refresh(std::shared_ptr<replica_list> self)
    {
        co_await self->resolver.refresh();
        self->is_refreshing = false;
        self->next_refresh = clock::now() + self->interval;
        self->min_next_refresh = clock::now() + min_interval;
    }

    // As soon as the minimum interval since the last refresh has passed.
    void refresh_soon() { next_refresh = std::min(next_refresh, min_next_refresh); }

    // Waits until the look-up in progress ends; rare, so polling costs nothing.
    static awaitable<void> wait_for_refresh(std::shared_ptr<replica_list> self, runtime::host& host,
                                            clock::time_point deadline)
    {
        boost::asio::steady_timer timer(host.executor());
        while (self->is_refreshing && clock::now() < deadline) {
            timer.expires_after(milliseconds(5));
            co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        }
    }

    static constexpr milliseconds min_interval{200};

    milliseconds interval;
    std::vector<replica> known;
    replica_resolver resolver;
    bool has_names;
    bool is_refreshing = false;
    clock::time_point next_refresh{};
    clock::time_point min_next_refresh{};
};

// Where a call's answer comes that took longer than others of its batch.
struct client::late_answer
{
    async::reset_event done;
    std::optional<batched_answer> answer;

    explicit late_answer(const boost::asio::any_io_executor& executor) : done(executor) {}
};

// The calls of one request while they are answered, in whatever order.
struct client::batch_on_its_way
{
    exchange outgoing;
    bool is_ordinary = false;     // a call by itself
    async::reset_event has_begun; // results have come or may follow, or the request has ended

    batch_on_its_way(const method_terms& called, std::size_t count,
                     const boost::asio::any_io_executor& executor)
        : outgoing{called, proto_type, {}, {}, clock::now() + called.timeout, true},
          has_begun(executor),
          executor_(executor),
          answers_(count),
          late_(count)
    {}

    // Whatever happens to the request, nobody waits for ever.
    struct ending
    {
        batch_on_its_way& batch;

        explicit ending(batch_on_its_way& of) : batch(of) {}
        ending(const ending&) = delete;
        ~ending()
        {
            batch.answer_rest(batched_answer{failure(
                errc::internal, std::string(batch.outgoing.method.path) + ": the answer is no " +
                                    v1::CallResults().GetTypeName())});
            batch.has_begun.set();
        }
    };

    // Reads the results that are new in the body so far, as far as they are whole.
    void take_results(std::string_view body)
    {
        has_begun.set();
        while (auto result = next_result(body)) {
            const std::size_t index = result->has_call_index() ? result->call_index() : taken_;
            ++taken_;
            if (index >= answers_.size() || is_answered(index))
                continue; // it has failed at the latest when the request ends
            batched_answer answer{std::string(), result->by_itself(), outgoing.last};
            if (result->code().empty())
                answer.response = std::move(*result->mutable_response());
            else
                answer.response = failure(code_from_connect(result->code()), result->message(),
                                          error_reason_of(result->reason()));
            put(index, std::move(answer));
        }
    }

    void answer_rest(const batched_answer& answer)
    {
        for (std::size_t i = 0; i < answers_.size(); ++i)
            if (!is_answered(i))
                put(i, answer);
    }

    // Once. Where there is no answer yet, it is where it comes.
    batched_answers hand_out()
    {
        batched_answers all;
        all.reserve(answers_.size());
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            if (answers_[i]) {
                all.push_back(std::move(*answers_[i]));
                continue;
            }
            late_[i] = std::make_shared<late_answer>(executor_);
            all.push_back(batched_answer{std::string(), false, std::nullopt, late_[i]});
        }
        return all;
    }

private:
    bool is_answered(std::size_t index) const
    {
        return answers_[index] || (late_[index] && late_[index]->answer);
    }

    void put(std::size_t index, batched_answer answer)
    {
        if (!late_[index]) {
            answers_[index] = std::move(answer);
            return;
        }
        late_[index]->answer = std::move(answer);
        late_[index]->done.set();
    }

    // A body of CallResults is one field after another, of which each is a result.
    std::optional<v1::CallResult> next_result(std::string_view body)
    {
        const auto left = body.substr(read_bytes_);
        google::protobuf::io::CodedInputStream input(
            reinterpret_cast<const std::uint8_t*>(left.data()), static_cast<int>(left.size()));
        std::uint32_t size = 0;
        if (input.ReadTag() != result_tag || !input.ReadVarint32(&size))
            return std::nullopt;
        const auto begin = static_cast<std::size_t>(input.CurrentPosition());
        v1::CallResult result;
        if (size > left.size() - begin ||
            !result.ParseFromArray(left.data() + begin, static_cast<int>(size)))
            return std::nullopt;
        read_bytes_ += begin + size;
        return result;
    }

    boost::asio::any_io_executor executor_;
    std::vector<std::optional<batched_answer>> answers_;
    std::vector<std::shared_ptr<late_answer>> late_;
    std::size_t taken_ = 0;      // results
    std::size_t read_bytes_ = 0; // of the body
};

client::client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials,
               client_settings chosen)
    : host_(host),
      replicas_(std::make_shared<replica_list>(host, std::move(replicas), chosen)),
      tokens_(credentials),
      send_(std::move(chosen.send)),
      is_tls_(chosen.tls != nullptr),
      tls_name_(std::move(chosen.tls_name)),
      http_(host, http_settings(chosen)),
      batches_at_(std::make_shared<std::map<std::string, std::size_t>>())
{
    if (replicas_->known.empty())
        throw std::logic_error("an RPC client needs at least one replica");
}

client::~client() = default;

// The next replica in turn that the call has not tried; one that is backing off only if no other is
// left. A batch goes to one with the fewest under way: so one that hangs does not get all of them.
std::optional<replica> client::choose_replica(const exchange& outgoing)
{
    const auto now = clock::now();
    const auto& known = replicas_->known;
    const auto& tried = outgoing.tried;
    std::optional<std::size_t> chosen, backing_off;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto candidate = (next_ + i) % known.size();
        if (std::find(tried.begin(), tried.end(), known[candidate].at) != tried.end())
            continue;
        // Nobody backs off, as a rule: then no text is made.
        const auto backoff = backoff_until_.empty()
                                 ? backoff_until_.end()
                                 : backoff_until_.find(known[candidate].at.text());
        if (backoff != backoff_until_.end() && backoff->second > now) {
            if (!backing_off)
                backing_off = candidate;
            continue;
        }
        std::size_t under_way = 0;
        if (outgoing.is_batch)
            if (const auto busy = batches_at_->find(known[candidate].at.text());
                busy != batches_at_->end())
                under_way = busy->second;
        if (!chosen || under_way < fewest) {
            chosen = candidate;
            fewest = under_way;
        }
        if (under_way == 0)
            break;
    }
    if (!chosen)
        chosen = backing_off;
    if (!chosen)
        return std::nullopt;
    next_ = *chosen + 1;
    return known[*chosen];
}

// Addresses come and go, so expired entries are removed.
void client::back_off(const host_port& replica)
{
    const auto now = clock::now();
    std::erase_if(backoff_until_, [now](const auto& entry) { return entry.second <= now; });
    backoff_until_[replica.text()] = now + failure_backoff;
    replicas_->refresh_soon();
}

void client::observe(std::string_view method, const result<void>& outcome,
                     std::chrono::duration<double> took)
{
    auto known = std::find_if(durations_.begin(), durations_.end(),
                              [method](const auto& each) { return each.method == method; });
    if (known == durations_.end()) {
        known = durations_.emplace(durations_.end());
        known->method = method;
    }
    auto& series =
        outcome ? known->good : known->failed[static_cast<std::size_t>(outcome.error().code)];
    if (series == nullptr) {
        const auto code = outcome ? std::string_view("ok") : connect_code(outcome.error().code);
        const auto slash = method.find('/');
        series = &host_.metrics().histogram(
            "tempinbox_rpc_client_duration_seconds",
            "Time of a call to another service, all its tries together", metrics::latency_buckets(),
            {{"service", std::string(method.substr(0, slash))},
             {"method", std::string(method.substr(std::min(slash + 1, method.size())))},
             {"code", std::string(code)}});
    }
    series->Observe(took.count());
}

awaitable<http::client_response> client::send(http::client_request outgoing)
{
    return send_ ? send_(std::move(outgoing)) : http_.send(std::move(outgoing));
}

// Only what a request caused is traced; background work begins no traces.
trace::span client::begin_span(std::string_view method, const trace::context* caller)
{
    return caller ? host_.tracer().begin(method, trace::span_kind::client, *caller) : trace::span();
}

awaitable<result<void>> client::call_replicas(method_terms called,
                                              const google::protobuf::Message& request,
                                              google::protobuf::Message& response,
                                              milliseconds deadline)
{
    const auto method = called.path;
    const auto began = clock::now();
    trace::span span;
    if (host_.tracer().is_on()) {
        const auto executor = co_await boost::asio::this_coro::executor;
        span = begin_span(method, trace::context_of(executor));
    }
    exchange outgoing{called, proto_type, request.SerializeAsString(), span.context(),
                      began + deadline};
    auto http_response = co_await send_to_replicas(outgoing);
    auto outcome = parse(read_body(std::move(http_response), method), method, response);
    describe(span, method, outgoing.tried, outgoing.last, outcome);
    observe(method, outcome, clock::now() - began);
    co_return outcome;
}

awaitable<result<void>> client::call_together(method_terms called,
                                              const google::protobuf::Message& request,
                                              google::protobuf::Message& response, uuid share)
{
    const auto method = called.path;
    const auto timeout = called.timeout;
    const auto began = clock::now();
    if (began < no_batches_until_)
        co_return co_await call_replicas(called, request, response, timeout);
    trace::span span;
    if (host_.tracer().is_on()) {
        const auto executor = co_await boost::asio::this_coro::executor;
        span = begin_span(method, trace::context_of(executor));
    }
    batched_call call{request.SerializeAsString(), span.context(), share};
    const async::deadline until = began + timeout;
    auto answer = co_await batcher_of(called).ask(std::move(call), until);
    if (const auto late = answer ? answer->late : nullptr) {
        co_await late->done.wait_until(until);
        answer = late->answer;
    }
    if (answer && answer->is_by_itself) {
        exchange outgoing{called, proto_type, request.SerializeAsString(), span.context(),
                          began + timeout};
        auto http_response = co_await send_to_replicas(outgoing);
        answer->response = read_body(std::move(http_response), method);
        answer->replica = outgoing.last;
    }
    auto outcome =
        answer ? parse(answer->response, method, response) : unanswered(method, began + timeout);
    describe(span, method, {}, answer ? answer->replica : std::nullopt, outcome);
    observe(method, outcome, clock::now() - began);
    co_return outcome;
}

client::call_batcher& client::batcher_of(const method_terms& called)
{
    const auto known = batchers_.find(called.path);
    if (known != batchers_.end())
        return *known->second;
    auto policy = batches;
    policy.max_items = std::min(called.max_batch, static_cast<std::size_t>(max_calls));
    auto made = std::make_unique<call_batcher>(host_.executor(), policy, "calls not answered",
                                               [this, called](std::vector<batched_call> calls) {
                                                   return send_batch(called, std::move(calls));
                                               });
    return *batchers_.emplace(std::string(called.path), std::move(made)).first->second;
}

// Ends with the batch's response or, if that comes in pieces, with its first: slow calls do not
// hold up the next batch.
awaitable<client::batched_answers> client::send_batch(method_terms called,
                                                      std::vector<batched_call> calls)
{
    auto batch = std::make_shared<batch_on_its_way>(called, calls.size(), host_.executor());
    auto& outgoing = batch->outgoing;
    // While others are under way, a call that comes alone may not be the only one that is slow.
    batch->is_ordinary = calls.size() == 1 && batcher_of(called).pending() == 1;
    if (batch->is_ordinary) {
        outgoing.body = std::move(calls.front().request);
        outgoing.cause = std::move(calls.front().cause);
    } else {
        v1::Calls all;
        all.set_takes_results_as_they_come(true);
        for (auto& each : calls) {
            auto& added = *all.add_calls();
            added.set_request(std::move(each.request));
            if (!each.cause.is_valid())
                continue;
            added.set_traceparent(each.cause.span.text());
            added.set_tracestate(std::move(each.cause.tracestate));
        }
        outgoing.content_type = calls_type;
        outgoing.body = all.SerializeAsString();
        outgoing.on_progress = [weak = std::weak_ptr(batch)](const http::client_response& so_far) {
            if (const auto mine = weak.lock(); mine && is_in_pieces(so_far))
                mine->take_results(so_far.body);
        };
    }
    boost::asio::co_spawn(host_.executor(), carry_batch(batch), boost::asio::detached);
    co_await batch->has_begun.wait();
    co_return batch->hand_out();
}

awaitable<void> client::carry_batch(std::shared_ptr<batch_on_its_way> batch)
{
    const batch_on_its_way::ending ending(*batch);
    auto& outgoing = batch->outgoing;
    const std::string method(outgoing.method.path);
    auto http_response = co_await send_to_replicas(outgoing);

    constexpr unsigned unsupported_media_type = 415;
    if (!batch->is_ordinary && http_response.status == unsupported_media_type) {
        no_batches_until_ = clock::now() + no_batches_for;
        batch->answer_rest(batched_answer{std::string(), true});
        co_return;
    }
    auto body = read_body(std::move(http_response), method);
    if (!body || batch->is_ordinary) {
        batch->answer_rest(batched_answer{std::move(body), false, outgoing.last});
        co_return;
    }
    batch->take_results(*body);
}

// Sends a request to one replica after the other until one has it.
awaitable<http::client_response> client::send_to_replicas(exchange& outgoing)
{
    http::client_response http_response;
    bool has_refreshed = false;
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(outgoing.give_up - clock::now());
        if (left.count() <= 0)
            break;
        replica_list::refresh_if_due(replicas_, host_);
        const auto chosen = choose_replica(outgoing);
        if (!chosen && has_refreshed)
            break;
        if (!chosen) {
            // All replicas refused: a refresh may find others.
            has_refreshed = true;
            co_await replica_list::wait_for_refresh(replicas_, host_, outgoing.give_up);
            continue;
        }
        auto request = make_request(outgoing, *chosen, left);
        const busy_replica busy(batches_at_, outgoing.is_batch ? chosen->at.text() : "");
        http_response = co_await send(std::move(request));
        // Once the request was written, the replica may have received it: only the caller can judge
        // whether to retry. Until then, or if it says that it did not begin, the next replica is
        // tried.
        if (http_response.is_sent && !http_response.header(goaway_header)) {
            outgoing.last = chosen->at;
            break;
        }
        back_off(chosen->at);
        outgoing.tried.push_back(chosen->at);
    }
    co_return http_response;
}

http::client_request client::make_request(const exchange& outgoing, const replica& to,
                                          milliseconds left)
{
    http::client_request request;
    request.method = "POST";
    request.url = (is_tls_ ? "https://" : "http://") + to.at.text() + "/";
    request.url += outgoing.method.path;
    request.may_repeat = outgoing.method.may_repeat;
    if (is_tls_)
        request.tls_name = tls_name_.empty() ? to.name : tls_name_;
    request.headers.reserve(outgoing.cause.is_valid() ? 6 : 4);
    request.headers.emplace_back("Content-Type", std::string(outgoing.content_type));
    request.headers.emplace_back("Connect-Protocol-Version", "1");
    request.headers.emplace_back("Connect-Timeout-Ms", std::to_string(left.count()));
    request.headers.emplace_back("Authorization", "Bearer " + tokens_.current().reveal());
    if (outgoing.cause.is_valid()) {
        request.headers.emplace_back("traceparent", outgoing.cause.span.text());
        if (!outgoing.cause.tracestate.empty())
            request.headers.emplace_back("tracestate", outgoing.cause.tracestate);
    }
    request.body = outgoing.body;
    request.deadline = left;
    request.on_progress = outgoing.on_progress;
    return request;
}

} // namespace tempinbox::rpc
