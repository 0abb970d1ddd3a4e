#include "common/rpc/client.hpp"

#include "common/json/value.hpp"
#include "common/rpc/codes.hpp"

#include <algorithm>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The largest message a setting or a plan allows (60 MiB: mail-ingest's settings, tempinboxctl) with what is around it.
constexpr std::uint64_t largest_answer = 64 * 1024 * 1024;
// A replica that could not be reached is asked last for this long.
constexpr milliseconds rest_after_failure{1'000};

http::client_settings http_settings()
{
    http::client_settings settings;
    settings.connect_timeout = milliseconds(1'000);
    settings.idle_timeout = milliseconds(60'000);
    settings.connections_per_host = 256;
    settings.body_limit = largest_answer;
    return settings;
}

failure transport_failure(const http::client_response& answer, const char* method)
{
    const auto code = answer.error == http::exchange_error::timeout ? errc::deadline_exceeded : errc::unavailable;
    return failure(code, std::string(method) + ": " + answer.error_text);
}

// A body that is not Connect's comes from something in between; the status is all it says.
failure read_error(const http::client_response& answer, const char* method)
{
    const auto body = json::value::parse(answer.body);
    const auto code = body ? body->find("code") : std::nullopt;
    const auto message = body ? body->find("message") : std::nullopt;
    if (code && code->is_string())
        return failure(code_from_connect(code->text()), message && message->is_string() ? message->text() : std::string());
    const bool is_passing = answer.status == 429 || answer.status == 502 || answer.status == 503 || answer.status == 504;
    return failure(is_passing ? errc::unavailable : errc::internal,
                   std::string(method) + ": HTTP status " + std::to_string(answer.status));
}

} // namespace

client::client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials)
    : replicas_(std::move(replicas)),
      tokens_(credentials),
      rests_until_(replicas_.size()),
      http_(host, http_settings())
{
    if (replicas_.empty())
        throw std::logic_error("an RPC client needs at least one replica");
}

// The next in turn of those a call has not tried; one that rests only where no other is left.
std::size_t client::choose_replica(const std::vector<std::size_t>& tried)
{
    const auto now = clock::now();
    auto resting = replicas_.size();
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
        const auto candidate = (next_ + i) % replicas_.size();
        if (std::find(tried.begin(), tried.end(), candidate) != tried.end())
            continue;
        if (rests_until_[candidate] <= now) {
            next_ = candidate + 1;
            return candidate;
        }
        if (resting == replicas_.size())
            resting = candidate;
    }
    next_ = resting + 1;
    return resting;
}

awaitable<result<void>> client::exchange(const char* method, const google::protobuf::Message& request,
                                         google::protobuf::Message& response, milliseconds deadline)
{
    const auto give_up = clock::now() + deadline;
    http::client_response answer;
    std::vector<std::size_t> tried;
    while (tried.size() < replicas_.size()) {
        const auto left = std::chrono::duration_cast<milliseconds>(give_up - clock::now());
        if (left.count() <= 0)
            break;
        const auto replica = choose_replica(tried);
        http::client_request outgoing;
        outgoing.method = "POST";
        outgoing.url = "http://" + replicas_[replica].text() + "/" + method;
        outgoing.headers.reserve(4);
        outgoing.headers.emplace_back("Content-Type", "application/proto");
        outgoing.headers.emplace_back("Connect-Protocol-Version", "1");
        outgoing.headers.emplace_back("Connect-Timeout-Ms", std::to_string(left.count()));
        outgoing.headers.emplace_back("Authorization", "Bearer " + tokens_.current().reveal());
        outgoing.body = request.SerializeAsString();
        outgoing.deadline = left;
        answer = co_await http_.send(std::move(outgoing));
        // Received or not is not known once it was written: only then is the failure the caller's to judge.
        if (answer.is_sent)
            break;
        rests_until_[replica] = clock::now() + rest_after_failure;
        tried.push_back(replica);
    }
    if (answer.error != http::exchange_error::none)
        co_return transport_failure(answer, method);
    if (answer.status == 0)
        co_return failure(errc::deadline_exceeded, std::string(method) + ": no time was left");
    if (answer.status != 200)
        co_return read_error(answer, method);
    if (!response.ParseFromString(answer.body))
        co_return failure(errc::internal, std::string(method) + ": the answer is no " + response.GetTypeName());
    co_return result<void>();
}

} // namespace tempinbox::rpc
