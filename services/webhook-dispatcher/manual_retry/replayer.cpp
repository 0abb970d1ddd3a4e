#include "webhook-dispatcher/manual_retry/replayer.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// Between two steps of one webhook: what is attempted meanwhile is moved by one transaction.
constexpr std::chrono::microseconds step_interval = 10ms;
constexpr std::chrono::microseconds search_interval = 1s;

} // namespace

replayer::replayer(runtime::host& host, delivery_repository& deliveries,
                   std::function<void(webhook_id)> on_moved)
    : deliveries_(deliveries),
      on_moved_(std::move(on_moved)),
      moved_(host.metrics().counter("tempinbox_webhook_dispatcher_deliveries_replayed_total",
                                    "Finished deliveries requeued by replays")),
      moving_(host.executor(), host.metrics(), "replay_deliveries", [this] { return move(); })
{}

void replayer::step_soon(webhook_id webhook)
{
    requested_.insert(webhook);
    if (is_idle_)
        moving_.wake();
}

awaitable<std::chrono::microseconds> replayer::move()
{
    is_idle_ = false;
    const auto webhooks = std::exchange(requested_, {});
    for (const auto webhook : webhooks)
        note(co_await deliveries_.step_replay_of(webhook));
    if (steady::now() >= next_search_)
        co_await search();
    if (!webhooks.empty() || !requested_.empty())
        co_return step_interval;
    is_idle_ = true;
    co_return std::max(0us,
                       std::chrono::ceil<std::chrono::microseconds>(next_search_ - steady::now()));
}

// One due replay at a time; the next search follows at once while there are more.
awaitable<void> replayer::search()
{
    const auto done = co_await deliveries_.step_due_replay();
    note(done);
    next_search_ = steady::now() + (done.found_one ? 0us : search_interval);
}

void replayer::note(const replay_step& done)
{
    moved_.Increment(static_cast<double>(done.moved));
    if (done.moved != 0)
        on_moved_(done.webhook);
}

} // namespace tempinbox::webhooks
