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

replayer::replayer(runtime::host& host, replay_repository& replays,
                   std::function<void(webhook_key)> on_moved)
    : replays_(replays),
      on_moved_(std::move(on_moved)),
      moved_(host.metrics().counter("tempinbox_webhook_dispatcher_deliveries_replayed_total",
                                    "Finished deliveries requeued by replays")),
      moving_(host.executor(), host.metrics(), "replay_deliveries", [this] { return move(); })
{}

void replayer::step_soon(webhook_key webhook)
{
    requested_.insert(webhook);
    if (is_idle_)
        moving_.wake();
}

awaitable<std::chrono::microseconds> replayer::move()
{
    is_idle_ = false;
    stepping_.merge(requested_);
    const bool has_stepped = !stepping_.empty();
    // A step that throws is left to the search; the other webhooks have their turn all the same.
    while (!stepping_.empty()) {
        const auto webhook = stepping_.extract(stepping_.begin()).value();
        note(co_await replays_.step_of(webhook));
    }
    if (steady::now() >= next_search_)
        co_await search();
    if (has_stepped || !requested_.empty())
        co_return step_interval;
    is_idle_ = true;
    co_return std::max(0us,
                       std::chrono::ceil<std::chrono::microseconds>(next_search_ - steady::now()));
}

// One due replay at a time; the next search follows soon while there are more.
awaitable<void> replayer::search()
{
    const auto done = co_await replays_.step_due();
    note(done);
    next_search_ = steady::now() + (done.was_found ? step_interval : search_interval);
}

void replayer::note(const replay_step& done)
{
    moved_.Increment(static_cast<double>(done.moved));
    if (done.moved != 0)
        on_moved_(done.webhook);
    else if (done.has_ended)
        step_soon(done.webhook); // it may have another replay, and no attempt follows to ask for it
}

} // namespace tempinbox::webhooks
