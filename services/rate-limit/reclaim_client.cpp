#include "rate-limit/reclaim_client.hpp"

#include "common/log/log.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/timestamp.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto call_timeout = 100ms;
constexpr auto retry_delay = 1s;
// Replicas come and go; an evicted peer is made again on demand.
constexpr std::size_t max_peers = 64;
constexpr async::batch_policy policy{.max_items = 1'000, .timeout = call_timeout};

} // namespace

// What a call uses; it may end after its peer is gone.
struct reclaim_client::replica
{
    std::string address;
    rpc::client client;
    prometheus::Counter& reclaims;
    steady::time_point retry_at{};

    replica(runtime::host& host, const host_port& at, rpc::tokens& tokens,
            prometheus::Counter& counted)
        : address(at.text()),
          client(host, std::vector{at}, tokens),
          reclaims(counted)
    {}
};

struct reclaim_client::peer
{
    std::shared_ptr<replica> to;
    async::batcher<account_day, void> batches;

    peer(runtime::host& host, const host_port& at, rpc::tokens& tokens,
         prometheus::Counter& counted)
        : to(std::make_shared<replica>(host, at, tokens, counted)),
          batches(host.executor(), policy, "blocks of a replica not reclaimed",
                  [called = to](std::vector<account_day> blocks) {
                      return call(called, std::move(blocks));
                  })
    {}
};

reclaim_client::reclaim_client(runtime::host& host, rpc::tokens& tokens)
    : host_(host),
      tokens_(tokens),
      reclaims_(host.metrics().counter("tempinbox_rate_limit_recalls_total",
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
        std::erase_if(peers_,
                      [](const auto& entry) { return entry.second->batches.pending() == 0; });
    return peers_.emplace(holder, std::make_shared<peer>(host_, *at, tokens_, reclaims_))
        .first->second;
}

awaitable<void> reclaim_client::reclaim(std::string holder, account_id account, day on_day)
{
    const auto from = holder == own_ ? nullptr : find_peer(holder);
    if (from && steady::now() >= from->to->retry_at)
        co_await from->batches.ask(account_day{account, on_day});
}

awaitable<void> reclaim_client::call(std::shared_ptr<replica> to, std::vector<account_day> blocks)
{
    // A request is of one day; two days meet around midnight only.
    std::map<day, ratelimit::v1::ReturnBlockRequest> requests;
    for (const auto& each : blocks)
        requests[each.on_day].add_account_ids(each.account.text());
    for (auto& [on_day, request] : requests) {
        *request.mutable_day() = rpc::to_timestamp(on_day);
        to->reclaims.Increment();
        const auto response = co_await to->client.call(rate_limit_methods::return_block,
                                                       std::move(request), call_timeout);
        if (!response) {
            to->retry_at = steady::now() + retry_delay;
            log::warning("blocks of a replica not reclaimed",
                         {{"replica", to->address}, {"error", response.error().message}});
        }
    }
}

} // namespace tempinbox::rate_limit
