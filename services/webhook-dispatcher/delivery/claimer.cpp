#include "webhook-dispatcher/delivery/claimer.hpp"

#include "webhook-dispatcher/delivery/schedule.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds min_delay = 5ms;
constexpr std::chrono::milliseconds max_delay = 1s;
constexpr std::chrono::milliseconds retry_delay = 500ms;
constexpr int due_page_size = 1'000;
constexpr int max_pages_of_lap = 5;

} // namespace

due_claimer::due_claimer(runtime::host& host, queue_repository& deliveries, config_cache& configs,
                         delivery_engine& engine, const outcome_recorder& recorder,
                         delivery_engine::outcome_handler on_outcome)
    : host_(host),
      deliveries_(deliveries),
      configs_(configs),
      engine_(engine),
      recorder_(recorder),
      on_outcome_(std::move(on_outcome)),
      claim_requested_(host.executor(), async::reset_event::mode::automatic),
      has_stopped_(host.executor()),
      task_(host.metrics(), "claim_deliveries"),
      oldest_due_(
          host.metrics().gauge("tempinbox_webhook_dispatcher_oldest_due_seconds",
                               "How long the oldest due delivery is overdue, without "
                               "endpoints whose circuit breaker opened; of the whole schema")),
      held_(host.metrics().gauge("tempinbox_webhook_dispatcher_deliveries_in_memory",
                                 "Deliveries in memory, queued or being sent")),
      tripped_(host.metrics().gauge("tempinbox_webhook_dispatcher_circuit_breakers_open",
                                    "Endpoints whose circuit breaker opened and is not closed yet"))
{}

void due_claimer::start()
{
    is_running_ = true;
    engine_.on_claim_request([this] { claim_requested_.set(); });
    boost::asio::co_spawn(host_.executor(), run(), boost::asio::detached);
}

awaitable<void> due_claimer::stop()
{
    is_stopping_ = true;
    claim_requested_.set();
    while (is_running_)
        co_await has_stopped_.wait();
    engine_.on_claim_request(nullptr);
}

awaitable<void> due_claimer::run()
{
    while (!is_stopping_) {
        auto wake_at = next_find_due_;
        std::string error_text;
        try {
            co_await step();
            task_.succeeded();
            wake_at = std::min(next_find_due_, next_release_);
        } catch (const std::exception& error) {
            // The loop goes on, with a delay; nothing that was claimed is lost.
            error_text = error.what();
        }
        if (!error_text.empty()) {
            task_.failed();
            log::warning("due deliveries not claimed, trying again", {{"reason", error_text}});
            wake_at = steady::now() + retry_delay;
            boost::asio::steady_timer delay(host_.executor(), wake_at);
            co_await delay.async_wait(boost::asio::use_awaitable);
            continue;
        }
        if (!is_stopping_)
            co_await claim_requested_.wait_until(wake_at);
    }
    is_running_ = false;
    has_stopped_.set();
}

awaitable<void> due_claimer::step()
{
    if (steady::now() >= next_release_) {
        next_release_ = steady::now() + max_delay;
        const int released = co_await deliveries_.release_expired_leases();
        if (released > 0) {
            log::info("expired leases of deliveries released", {{"deliveries", released}});
            next_find_due_ = steady::now();
        }
        co_await measure();
        engine_.evict_idle();
        co_await note_renewals();
    }
    if (steady::now() >= next_find_due_)
        co_await find_due();
    // Each claimed delivery becomes an outcome: pending outcomes must be written first.
    if (!recorder_.has_room())
        co_return;
    auto requests = engine_.take_claim_requests();
    if (!requests.empty())
        co_await claim(std::move(requests));
}

awaitable<void> due_claimer::measure()
{
    const auto began = steady::now();
    auto tripped = engine_.tripped();
    held_.Set(static_cast<double>(engine_.held()));
    tripped_.Set(static_cast<double>(tripped.size()));
    if (began < next_measure_)
        co_return;
    const auto age = co_await deliveries_.oldest_due_age(std::move(tripped));
    oldest_due_.Set(std::chrono::duration<double>(age).count());
    // Slow if many deliveries wait for broken endpoints: it may take a tenth of the time at most.
    next_measure_ = steady::now() + 10 * (steady::now() - began);
}

// Without new mail nothing else shows that an endpoint is worth a probe.
awaitable<void> due_claimer::note_renewals()
{
    if (!engine_.has_open_breakers())
        co_return;
    const auto renewed = co_await deliveries_.renewed_lately();
    for (const auto& [webhook, renewed_at] : renewed)
        engine_.note_renewal(webhook, renewed_at);
}

awaitable<void> due_claimer::find_due()
{
    const auto page = co_await deliveries_.find_due(next_page_from_, due_page_size);
    for (const auto& queue : page.queues)
        engine_.note_backlog(queue);
    next_page_from_ = page.next;
    auto delay = page.until_next_due.value_or(max_delay);
    if (page.next && ++pages_of_lap_ < max_pages_of_lap) {
        delay = min_delay;
    } else if (page.next) {
        // Very many deliveries wait, most likely for few endpoints: skip them by reading the
        // queues.
        const auto began = steady::now();
        const auto queues = co_await deliveries_.find_all_due();
        for (const auto& queue : queues)
            engine_.note_backlog(queue);
        next_page_from_.reset();
        delay = std::max(
            max_delay, std::chrono::ceil<std::chrono::milliseconds>(10 * (steady::now() - began)));
        next_find_due_ = steady::now() + jittered(delay);
        pages_of_lap_ = 0;
        co_return;
    } else {
        pages_of_lap_ = 0;
    }
    next_find_due_ = steady::now() + jittered(std::clamp(delay, min_delay, max_delay));
}

awaitable<void> due_claimer::claim(std::vector<claim_request> requests)
{
    const auto lease = uuid::make_v7();
    const auto lease_end = steady::now() + lease_time;
    std::vector<claimed_delivery> claimed;
    config_cache::configs configs;
    std::exception_ptr failed;
    try {
        claimed = co_await deliveries_.claim(requests, lease);
        std::vector<account_id> accounts;
        accounts.reserve(claimed.size());
        for (const auto& entry : claimed)
            accounts.push_back(entry.account);
        if (!accounts.empty())
            configs = co_await configs_.current(std::move(accounts));
    } catch (...) {
        // The reserved slots are released first, whatever was thrown.
        failed = std::current_exception();
    }
    if (failed) {
        // What was claimed waits until its lease ends.
        for (const auto& request : requests)
            for (std::size_t i = 0; i < request.capacity; ++i)
                engine_.release(request.queue.webhook, request.queue.queue);
        std::rethrow_exception(failed);
    }

    std::vector<due_queue> found;
    for (auto& entry : claimed) {
        found.push_back({entry.account, entry.webhook, entry.queue});
        accept(std::move(entry), configs, lease, lease_end);
    }
    release_unused(requests, found);
}

void due_claimer::accept(claimed_delivery claimed, const config_cache::configs& configs, uuid lease,
                         time lease_end)
{
    using state = delivery_outcome::state;
    const auto now = host_.clock().now();
    const auto config = configs.find(claimed.account);
    auto to = config == configs.end() ? nullptr : config->second->find(claimed.webhook);
    if (!to)
        return refuse_all(claimed, lease, state::dropped, "the webhook was deleted");
    if (!config->second->is_active(claimed.webhook, now))
        return refuse_all(claimed, lease, state::aborted, "the plan has no place for this webhook");
    if (!to->is_enabled)
        return refuse_all(claimed, lease, state::skipped_disabled,
                          to->refusal.value_or("the webhook is switched off"));
    if (!claimed.body)
        return refuse(claimed, lease, state::aborted, "the event is no longer kept");
    if (now > claimed.began + delivery_lifetime)
        return refuse(claimed, lease, state::exhausted, "not delivered within seven days");

    auto event = std::make_shared<outgoing_event>();
    event->id = claimed.event;
    event->body = std::move(*claimed.body);
    event->traceparent = std::move(claimed.traceparent);
    delivery_job job;
    job.event = std::move(event);
    job.to = std::move(to);
    job.attempts_made = claimed.attempts;
    job.is_replayed = claimed.is_replayed();
    job.lease = lease;
    job.lease_end = lease_end;
    job.began = claimed.began;
    engine_.submit(std::move(job));
}

void due_claimer::refuse(const claimed_delivery& claimed, uuid lease, delivery_outcome::state state,
                         std::string reason)
{
    delivery_outcome outcome;
    outcome.event = claimed.event;
    outcome.webhook = claimed.webhook;
    outcome.account = claimed.account;
    outcome.lease = lease;
    outcome.next = state;
    outcome.attempts = claimed.attempts;
    outcome.is_replayed = claimed.is_replayed();
    outcome.error = std::move(reason);
    engine_.release(claimed.webhook, claimed.queue);
    on_outcome_(std::move(outcome));
    claim_requested_.set();
}

// The endpoint gets nothing any more: its other waiting deliveries end the same way, and no breaker
// need delay them.
void due_claimer::refuse_all(const claimed_delivery& claimed, uuid lease,
                             delivery_outcome::state state, std::string reason)
{
    engine_.reset_breaker(claimed.webhook);
    refuse(claimed, lease, state, std::move(reason));
}

// Releases the reserved capacity that no delivery took.
void due_claimer::release_unused(const std::vector<claim_request>& requests,
                                 const std::vector<due_queue>& found)
{
    for (const auto& request : requests) {
        const auto filled = static_cast<std::size_t>(
            std::count_if(found.begin(), found.end(), [&](const due_queue& entry) {
                return entry.webhook == request.queue.webhook && entry.queue == request.queue.queue;
            }));
        for (auto empty = filled; empty < request.capacity; ++empty)
            engine_.release(request.queue.webhook, request.queue.queue);
        if (filled < request.capacity)
            engine_.clear_backlog(request);
    }
}

// ± 20 %, so that replicas do not poll in step.
std::chrono::milliseconds due_claimer::jittered(std::chrono::milliseconds delay)
{
    jitter_state_ = jitter_state_ * 1'664'525U + 1'013'904'223U;
    return delay * (80 + static_cast<int>(jitter_state_ >> 24) * 40 / 255) / 100;
}

} // namespace tempinbox::webhooks
