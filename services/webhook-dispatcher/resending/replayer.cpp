#include "webhook-dispatcher/resending/replayer.hpp"

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds pause_between_steps = 20ms;
constexpr std::chrono::microseconds pause_without_work = 1s;
// With a replay under way it is due again soon, here or at another process.
constexpr int idle_looks_before_rest = 10;

} // namespace

replayer::replayer(runtime::host& host, replay_store& replays)
    : replays_(replays),
      moved_(host.metrics().counter("tempinbox_webhook_dispatcher_replayed_total",
                                    "Finished deliveries put back to be sent again.")),
      moving_(host, "deliveries not replayed", [this] { return move(); })
{}

awaitable<std::chrono::microseconds> replayer::move()
{
    const auto done = co_await replays_.step();
    moved_.Increment(static_cast<double>(done.moved));
    if (done.found_one)
        idle_looks_ = 0;
    else if (idle_looks_ < idle_looks_before_rest)
        ++idle_looks_;
    co_return idle_looks_ < idle_looks_before_rest ? pause_between_steps : pause_without_work;
}

} // namespace tempinbox::webhooks
