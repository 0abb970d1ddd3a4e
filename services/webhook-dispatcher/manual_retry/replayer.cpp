#include "webhook-dispatcher/manual_retry/replayer.hpp"

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds step_interval = 20ms;
constexpr std::chrono::microseconds idle_interval = 1s;
// A replay under way is due again soon, here or at another process.
constexpr int max_idle_polls = 10;

} // namespace

replayer::replayer(runtime::host& host, delivery_repository& deliveries,
                   std::function<void(webhook_id)> on_moved)
    : deliveries_(deliveries),
      on_moved_(std::move(on_moved)),
      moved_(host.metrics().counter("tempinbox_webhook_dispatcher_deliveries_replayed_total",
                                    "Finished deliveries requeued by replays")),
      moving_(host.executor(), host.metrics(), "replay_deliveries", [this] { return move(); })
{}

awaitable<std::chrono::microseconds> replayer::move()
{
    const auto done = co_await deliveries_.step_replay();
    moved_.Increment(static_cast<double>(done.moved));
    if (done.moved != 0)
        on_moved_(done.webhook);
    if (done.found_one)
        idle_polls_ = 0;
    else if (idle_polls_ < max_idle_polls)
        ++idle_polls_;
    co_return idle_polls_ < max_idle_polls ? step_interval : idle_interval;
}

} // namespace tempinbox::webhooks
