#include "rate-limit/recall_client.hpp"

#include "common/log/log.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto patience = 100ms;
constexpr auto rest_after_failure = 1s;
// Replicas come and go; what is forgotten is made again.
constexpr std::size_t most_peers = 64;
constexpr int most_accounts_a_call = 1'000;

} // namespace

// One call: a day's accounts and those who wait for it.
struct recall_client::round
{
    ratelimit::v1::ReturnBlockRequest request;
    runtime::completion done;

    explicit round(const boost::asio::any_io_executor& executor) : done(executor) {}
};

struct recall_client::peer
{
    std::string address;
    rpc::client client;
    std::map<day, std::shared_ptr<round>> gathering;
    bool is_calling = false;
    steady::time_point rests_until{};

    peer(runtime::host& host, const host_port& at, rpc::tokens& tokens)
        : address(at.text()),
          client(host, std::vector{at}, tokens)
    {}
};

recall_client::recall_client(runtime::host& host, rpc::tokens& tokens)
    : host_(host),
      tokens_(tokens),
      recalls_(host.metrics().counter("tempinbox_rate_limit_recalls_total",
                                      "Calls to other replicas to give blocks back"))
{}

std::shared_ptr<recall_client::peer> recall_client::find_peer(const std::string& holder)
{
    if (const auto found = peers_.find(holder); found != peers_.end())
        return found->second;
    const auto at = host_port::parse(holder);
    if (!at)
        return nullptr;
    if (peers_.size() >= most_peers)
        std::erase_if(peers_, [](const auto& entry) { return !entry.second->is_calling; });
    return peers_.emplace(holder, std::make_shared<peer>(host_, *at, tokens_)).first->second;
}

awaitable<void> recall_client::ask_back(std::string holder, account_id account, day on_day)
{
    const auto to = holder == own_ ? nullptr : find_peer(holder);
    if (!to || steady::now() < to->rests_until)
        co_return;
    auto& gathering = to->gathering[on_day];
    if (!gathering || gathering->request.account_ids_size() >= most_accounts_a_call) {
        gathering = std::make_shared<round>(host_.executor());
        gathering->request.mutable_day()->set_seconds(
            std::chrono::duration_cast<std::chrono::seconds>(on_day.time_since_epoch()).count());
    }
    gathering->request.add_account_ids(account.text());
    const auto mine = gathering;
    if (!to->is_calling) {
        to->is_calling = true;
        boost::asio::co_spawn(host_.loop(), call_rounds(to), boost::asio::detached);
    }
    co_await mine->done.wait_until(steady::now() + patience);
}

awaitable<void> recall_client::call_rounds(std::shared_ptr<peer> to)
{
    while (!to->gathering.empty()) {
        const auto current = to->gathering.begin()->second;
        to->gathering.erase(to->gathering.begin());
        recalls_.Increment();
        auto request = current->request;
        const auto answer = co_await to->client.call<ratelimit::v1::ReturnBlockResponse>(
            "tempinbox.ratelimit.v1.RateLimitService/ReturnBlock", std::move(request), patience);
        if (!answer) {
            to->rests_until = steady::now() + rest_after_failure;
            log::warning("a replica did not give its blocks back",
                         {{"replica", to->address}, {"error", answer.error().message}});
        }
        current->done.set();
    }
    to->is_calling = false;
}

} // namespace tempinbox::rate_limit
