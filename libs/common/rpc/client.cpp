#include "common/rpc/client.hpp"

#include "common/json/value.hpp"
#include "common/rpc/codes.hpp"
#include "common/rpc/replica_resolver.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>

namespace tempinbox::rpc {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The largest message a setting or a plan allows (60 MiB: mail-ingest's settings, tempinboxctl)
// with what is around it.
constexpr std::uint64_t largest_answer = 64 * 1024 * 1024;
// A replica that could not be reached is asked last for this long.
constexpr milliseconds rest_after_failure{1'000};

http::client_settings http_settings(const client_settings& chosen)
{
    http::client_settings settings;
    settings.connect_timeout = milliseconds(1'000);
    settings.idle_timeout = milliseconds(60'000);
    settings.connections_per_host = 256;
    settings.body_limit = largest_answer;
    settings.connection_max_age = chosen.connection_max_age;
    settings.resolve = chosen.resolve; // of a name that was not looked up yet
    return settings;
}

failure transport_failure(const http::client_response& answer, const char* method)
{
    const auto code =
        answer.error == http::exchange_error::timeout ? errc::deadline_exceeded : errc::unavailable;
    return failure(code, std::string(method) + ": " + answer.error_text);
}

// A body that is not Connect's comes from something in between; the status is all it says.
failure read_error(const http::client_response& answer, const char* method)
{
    const auto body = json::value::parse(answer.body);
    const auto code = body ? body->find("code") : std::nullopt;
    const auto message = body ? body->find("message") : std::nullopt;
    if (code && code->is_string())
        return failure(code_from_connect(code->text()),
                       message && message->is_string() ? message->text() : std::string());
    const bool is_passing = answer.status == 429 || answer.status == 502 || answer.status == 503 ||
                            answer.status == 504;
    return failure(is_passing ? errc::unavailable : errc::internal,
                   std::string(method) + ": HTTP status " + std::to_string(answer.status));
}

} // namespace

// What is known of the replicas, and the look-up of their names.
struct client::replica_list
{
    replica_list(runtime::host& host, std::vector<host_port> configured,
                 const client_settings& chosen)
        : interval(chosen.resolve_interval),
          known(configured),
          resolver(
              host, std::move(configured),
              [this](const std::vector<host_port>& found) { known = found; }, chosen.resolve),
          has_names(resolver.has_names())
    {}

    static void look_if_due(const std::shared_ptr<replica_list>& self, runtime::host& host)
    {
        if (!self->has_names || self->is_looking || clock::now() < self->next_look)
            return;
        self->is_looking = true;
        boost::asio::co_spawn(host.executor(), look(self), boost::asio::detached);
    }

    static awaitable<void> look(std::shared_ptr<replica_list> self)
    {
        co_await self->resolver.look();
        self->is_looking = false;
        self->next_look = clock::now() + self->interval;
        self->least_next_look = clock::now() + least_interval;
    }

    // As soon as it was not done a moment ago.
    void look_soon() { next_look = std::min(next_look, least_next_look); }

    // Until the look-up under way has ended; rare, so that asking again and again costs nothing.
    static awaitable<void> wait_for_look(std::shared_ptr<replica_list> self, runtime::host& host,
                                         clock::time_point deadline)
    {
        boost::asio::steady_timer pause(host.executor());
        while (self->is_looking && clock::now() < deadline) {
            pause.expires_after(milliseconds(5));
            co_await pause.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        }
    }

    static constexpr milliseconds least_interval{200};

    milliseconds interval;
    std::vector<host_port> known;
    replica_resolver resolver;
    bool has_names;
    bool is_looking = false;
    clock::time_point next_look{};
    clock::time_point least_next_look{};
};

client::client(runtime::host& host, std::vector<host_port> replicas, tokens& credentials,
               client_settings chosen)
    : host_(host),
      replicas_(std::make_shared<replica_list>(host, std::move(replicas), chosen)),
      tokens_(credentials),
      http_(host, http_settings(chosen))
{
    if (replicas_->known.empty())
        throw std::logic_error("an RPC client needs at least one replica");
}

client::~client() = default;

// The next in turn of those a call has not tried; one that rests only where no other is left.
std::optional<host_port> client::choose_replica(const std::vector<host_port>& tried)
{
    const auto now = clock::now();
    const auto& known = replicas_->known;
    std::optional<std::size_t> resting;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto candidate = (next_ + i) % known.size();
        if (std::find(tried.begin(), tried.end(), known[candidate]) != tried.end())
            continue;
        const auto rest = rests_until_.find(known[candidate].text());
        if (rest == rests_until_.end() || rest->second <= now) {
            next_ = candidate + 1;
            return known[candidate];
        }
        if (!resting)
            resting = candidate;
    }
    if (!resting)
        return std::nullopt;
    next_ = *resting + 1;
    return known[*resting];
}

// Addresses come and go: what has rested is not remembered.
void client::let_rest(const host_port& replica)
{
    const auto now = clock::now();
    std::erase_if(rests_until_, [now](const auto& entry) { return entry.second <= now; });
    rests_until_[replica.text()] = now + rest_after_failure;
    replicas_->look_soon();
}

awaitable<result<void>> client::exchange(const char* method,
                                         const google::protobuf::Message& request,
                                         google::protobuf::Message& response, milliseconds deadline)
{
    const auto give_up = clock::now() + deadline;
    http::client_response answer;
    std::vector<host_port> tried;
    bool has_looked_again = false;
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(give_up - clock::now());
        if (left.count() <= 0)
            break;
        replica_list::look_if_due(replicas_, host_);
        const auto replica = choose_replica(tried);
        if (!replica && has_looked_again)
            break;
        if (!replica) {
            // All have refused: there may be others by now.
            has_looked_again = true;
            co_await replica_list::wait_for_look(replicas_, host_, give_up);
            continue;
        }
        http::client_request outgoing;
        outgoing.method = "POST";
        outgoing.url = "http://" + replica->text() + "/" + method;
        outgoing.headers.reserve(4);
        outgoing.headers.emplace_back("Content-Type", "application/proto");
        outgoing.headers.emplace_back("Connect-Protocol-Version", "1");
        outgoing.headers.emplace_back("Connect-Timeout-Ms", std::to_string(left.count()));
        outgoing.headers.emplace_back("Authorization", "Bearer " + tokens_.current().reveal());
        outgoing.body = request.SerializeAsString();
        outgoing.deadline = left;
        answer = co_await http_.send(std::move(outgoing));
        // Received or not is not known once it was written: only then is the failure the caller's
        // to judge.
        if (answer.is_sent)
            break;
        let_rest(*replica);
        tried.push_back(*replica);
    }
    if (answer.error != http::exchange_error::none)
        co_return transport_failure(answer, method);
    if (answer.status == 0)
        co_return failure(errc::deadline_exceeded, std::string(method) + ": no time was left");
    if (answer.status != 200)
        co_return read_error(answer, method);
    if (!response.ParseFromString(answer.body))
        co_return failure(errc::internal,
                          std::string(method) + ": the answer is no " + response.GetTypeName());
    co_return result<void>();
}

} // namespace tempinbox::rpc
