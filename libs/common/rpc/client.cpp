#include "common/rpc/client.hpp"

#include "common/core/text.hpp"
#include "common/json/value.hpp"
#include "common/rpc/codes.hpp"

namespace tempinbox::rpc {
namespace {

http::client_settings client_settings()
{
    http::client_settings chosen;
    chosen.connect_timeout = std::chrono::milliseconds(1'000);
    chosen.connections_per_host = 256;
    chosen.body_limit = 64 * 1024 * 1024;
    return chosen;
}

failure read_failure(const http::client_response& answer)
{
    const auto body = json::value::parse(answer.body);
    const auto code = body ? body->find("code") : std::nullopt;
    const auto message = body ? body->find("message") : std::nullopt;
    if (!code || !code->is_string())
        return failure{answer.status == 503 ? errc::unavailable : errc::internal, "unexpected status " + std::to_string(answer.status)};
    return failure{code_from_connect(code->text()), message && message->is_string() ? message->text() : std::string()};
}

failure read_transport_failure(const http::client_response& answer)
{
    const bool timed_out = answer.error == http::exchange_error::timeout;
    return failure{timed_out ? errc::deadline_exceeded : errc::unavailable, answer.error_text};
}

} // namespace

client::client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials)
    : replicas_(std::move(replicas)), tokens_(credentials), http_(host, client_settings())
{
}

awaitable<result<void>> client::exchange(const char* method, const google::protobuf::Message& request,
                                         google::protobuf::Message& response, std::chrono::milliseconds deadline)
{
    const auto end = std::chrono::steady_clock::now() + deadline;
    const std::string body = request.SerializeAsString();
    failure last{errc::unavailable, "no replica answers"};
    for (std::size_t tried = 0; tried < std::max<std::size_t>(replicas_.size(), 1) && !replicas_.empty(); ++tried) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0)
            break;
        const host_port replica = replicas_[next_++ % replicas_.size()];
        http::client_request outgoing;
        outgoing.method = "POST";
        outgoing.url = "http://" + replica.text() + "/" + method;
        outgoing.headers.emplace_back("Content-Type", "application/proto");
        outgoing.headers.emplace_back("Connect-Protocol-Version", "1");
        outgoing.headers.emplace_back("Connect-Timeout-Ms", std::to_string(left.count()));
        outgoing.headers.emplace_back("Authorization", "Bearer " + tokens_.current().reveal());
        outgoing.body = body;
        outgoing.deadline = left;
        const http::client_response answer = co_await http_.send(std::move(outgoing));
        if (answer.error == http::exchange_error::connect || answer.error == http::exchange_error::resolve) {
            last = read_transport_failure(answer);
            continue; // nothing was sent: the next replica may be up
        }
        if (answer.error != http::exchange_error::none)
            co_return read_transport_failure(answer);
        if (answer.status != 200)
            co_return read_failure(answer);
        if (!response.ParseFromString(answer.body))
            co_return failure{errc::internal, "the answer is no " + response.GetDescriptor()->full_name()};
        co_return result<void>();
    }
    co_return last;
}

} // namespace tempinbox::rpc
