#include "rate-limit/reclaim_client.hpp"

#include "common/log/log.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/timestamp.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto call_timeout = 100ms;
constexpr auto retry_delay = 1s;
// Replicas come and go; an evicted peer is made again on demand.
constexpr std::size_t max_peers = 64;
constexpr int max_accounts_a_call = 1'000;

} // namespace

// One call: the accounts of one day, and the reclaims that wait for it.
struct reclaim_client::batch
{
    ratelimit::v1::ReturnBlockRequest request;
    async::reset_event done;

    explicit batch(const boost::asio::any_io_executor& executor) : done(executor) {}
};

struct reclaim_client::peer
{
    std::string address;
    rpc::client client;
    std::map<day, std::shared_ptr<batch>> pending;
    bool is_calling = false;
    steady::time_point retry_at{};

    peer(runtime::host& host, const host_port& at, rpc::tokens& tokens)
        : address(at.text()),
          client(host, std::vector{at}, tokens)
    {}
};

reclaim_client::reclaim_client(runtime::host& host, rpc::tokens& tokens)
    : host_(host),
      tokens_(tokens),
      reclaims_(host.metrics().counter("tempinbox_rate_limit_reclaims_total",
                                       "Calls to other replicas to reclaim blocks"))
{}

std::shared_ptr<reclaim_client::peer> reclaim_client::find_peer(const std::string& holder)
{
    if (const auto found = peers_.find(holder); found != peers_.end())
        return found->second;
    const auto at = host_port::parse(holder);
    if (!at)
        return nullptr;
    if (peers_.size() >= max_peers)
        std::erase_if(peers_, [](const auto& entry) { return !entry.second->is_calling; });
    return peers_.emplace(holder, std::make_shared<peer>(host_, *at, tokens_)).first->second;
}

awaitable<void> reclaim_client::reclaim(std::string holder, account_id account, day on_day)
{
    const auto to = holder == own_ ? nullptr : find_peer(holder);
    if (!to || steady::now() < to->retry_at)
        co_return;
    auto& pending = to->pending[on_day];
    if (!pending || pending->request.account_ids_size() >= max_accounts_a_call) {
        pending = std::make_shared<batch>(host_.executor());
        *pending->request.mutable_day() = rpc::to_timestamp(on_day);
    }
    pending->request.add_account_ids(account.text());
    const auto mine = pending;
    if (!to->is_calling) {
        to->is_calling = true;
        boost::asio::co_spawn(host_.loop(), call_batches(to), boost::asio::detached);
    }
    co_await mine->done.wait_until(steady::now() + call_timeout);
}

awaitable<void> reclaim_client::call_batches(std::shared_ptr<peer> to)
{
    while (!to->pending.empty()) {
        const auto current = to->pending.begin()->second;
        to->pending.erase(to->pending.begin());
        reclaims_.Increment();
        auto request = current->request;
        const auto response = co_await to->client.call(rate_limit_methods::return_block,
                                                       std::move(request), call_timeout);
        if (!response) {
            to->retry_at = steady::now() + retry_delay;
            log::warning("blocks of a replica not reclaimed",
                         {{"replica", to->address}, {"error", response.error().message}});
        }
        current->done.set();
    }
    to->is_calling = false;
}

} // namespace tempinbox::rate_limit
