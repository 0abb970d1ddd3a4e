#include "rate-limit/reclaim_client.hpp"

#include "common/async/batcher.hpp"
#include "common/log/log.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/timestamp.hpp"

#include <utility>
#include <vector>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto call_timeout = 100ms;
constexpr auto retry_delay = 1s;
// Replicas come and go; an evicted peer is made again on demand.
constexpr std::size_t max_peers = 64;
constexpr async::batch_policy policy{.max_items = 1'000, .timeout = call_timeout};

using block_name = std::pair<account_id, day>;

} // namespace

// Another replica; kept alive by its calls.
struct reclaim_client::peer
{
    std::string address;
    rpc::client client;
    prometheus::Counter& reclaims;
    steady::time_point retry_at{};

    peer(runtime::host& host, const host_port& at, rpc::tokens& tokens, rpc::client_settings chosen,
         prometheus::Counter& counted)
        : address(at.text()),
          client(host, {at}, tokens, std::move(chosen)),
          reclaims(counted)
    {}

    // A call is of one day; only around midnight a batch has two.
    static awaitable<void> reclaim(std::shared_ptr<peer> self, std::vector<block_name> blocks)
    {
        std::map<day, ratelimit::v1::ReturnBlockRequest> requests;
        for (const auto& [account, on_day] : blocks)
            requests[on_day].add_account_ids(account.text());
        for (auto& [on_day, request] : requests) {
            *request.mutable_day() = rpc::to_timestamp(on_day);
            self->reclaims.Increment();
            const auto response = co_await self->client.call(rate_limit_methods::return_block,
                                                             std::move(request), call_timeout);
            if (response)
                continue;
            self->retry_at = steady::now() + retry_delay;
            log::warning("blocks of a replica not reclaimed",
                         {{"replica", self->address}, {"error", response.error().message}});
        }
    }
};

struct reclaim_client::batched_peer
{
    std::shared_ptr<peer> to;
    async::batcher<block_name, void> calls;

    batched_peer(runtime::host& host, const std::shared_ptr<peer>& called)
        : to(called),
          calls(host.executor(), policy, "blocks of a replica not reclaimed",
                [called](std::vector<block_name> blocks) {
                    return peer::reclaim(called, std::move(blocks));
                })
    {}
};

reclaim_client::reclaim_client(runtime::host& host, rpc::tokens& tokens,
                               rpc::client_settings chosen)
    : host_(host),
      tokens_(tokens),
      rpc_settings_(std::move(chosen)),
      reclaims_(host.metrics().counter("tempinbox_rate_limit_reclaims_total",
                                       "Calls to other replicas to reclaim blocks"))
{}

reclaim_client::~reclaim_client() = default;

reclaim_client::batched_peer* reclaim_client::find_peer(const std::string& holder)
{
    if (const auto found = peers_.find(holder); found != peers_.end())
        return found->second.get();
    const auto at = host_port::parse(holder);
    if (!at)
        return nullptr;
    if (peers_.size() >= max_peers)
        std::erase_if(peers_, [](const auto& entry) { return entry.second->calls.pending() == 0; });
    const auto called = std::make_shared<peer>(host_, *at, tokens_, rpc_settings_, reclaims_);
    return peers_.emplace(holder, std::make_unique<batched_peer>(host_, called))
        .first->second.get();
}

awaitable<void> reclaim_client::reclaim(std::string holder, account_id account, day on_day)
{
    auto* const called = holder == own_ ? nullptr : find_peer(holder);
    if (called && steady::now() >= called->to->retry_at)
        co_await called->calls.ask(block_name(account, on_day));
}

} // namespace tempinbox::rate_limit
