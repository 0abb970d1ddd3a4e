#include "webhook-dispatcher/delivery/engine.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using steady = std::chrono::steady_clock;

// How often the leases of starved deliveries are checked.
constexpr std::chrono::milliseconds lease_watch_interval{1'000};

constexpr queue_kind both_queues[] = {queue_kind::first, queue_kind::retry};

// Smaller claims would cost a statement each.
std::size_t min_claim_size(queue_kind queue)
{
    return endpoint_window::slots(queue) / 2;
}

std::chrono::milliseconds left_until(steady::time_point moment)
{
    return std::max(std::chrono::milliseconds{0},
                    std::chrono::ceil<std::chrono::milliseconds>(moment - steady::now()));
}

} // namespace

delivery_engine::delivery_engine(runtime::host& host, request_sender send,
                                 outcome_handler on_outcome, engine_limits limits)
    : host_(host),
      send_(std::move(send)),
      on_outcome_(std::move(on_outcome)),
      limits_(limits),
      lease_watch_(std::make_shared<boost::asio::steady_timer>(host.executor())),
      in_flight_(host.executor()),
      has_room_(host.executor(), async::reset_event::mode::automatic)
{}

delivery_engine::~delivery_engine() = default;

delivery_engine::endpoint_state& delivery_engine::state_of(webhook_id webhook)
{
    auto& entry = endpoints_[webhook];
    if (!entry)
        entry = std::make_unique<endpoint_state>(webhook);
    return *entry;
}

std::size_t delivery_engine::capacity(const endpoint_state& endpoint, queue_kind queue) const
{
    if (is_draining_ || held_ >= limits_.held || endpoint.health.is_open(steady::now()))
        return 0;
    // Half-open: one delivery is enough for the probe.
    if (endpoint.health.is_tripped())
        return endpoint.window.is_idle() ? 1 : 0;
    return std::min(endpoint.window.capacity(queue), limits_.held - held_);
}

bool delivery_engine::reserve(webhook_id webhook, queue_kind queue)
{
    auto& endpoint = state_of(webhook);
    if (capacity(endpoint, queue) == 0 || !endpoint.window.reserve(queue))
        return false;
    ++held_;
    return true;
}

void delivery_engine::release(webhook_id webhook, queue_kind queue)
{
    state_of(webhook).window.release(queue);
    --held_;
    has_room_.set();
}

std::chrono::milliseconds delivery_engine::closed_for(webhook_id webhook) const
{
    const auto found = endpoints_.find(webhook);
    if (found == endpoints_.end() || !found->second->health.is_open(steady::now()))
        return std::chrono::milliseconds{0};
    return left_until(found->second->health.open_until());
}

void delivery_engine::note_renewal(webhook_id webhook, time_point renewed_at)
{
    const auto found = endpoints_.find(webhook);
    if (found == endpoints_.end() || found->second->renewed_at >= renewed_at)
        return;
    found->second->renewed_at = renewed_at;
    found->second->health.probe_now(steady::now());
}

bool delivery_engine::has_open_breakers() const
{
    return std::any_of(
        endpoints_.begin(), endpoints_.end(),
        [now = steady::now()](const auto& item) { return item.second->health.is_open(now); });
}

std::vector<webhook_id> delivery_engine::tripped() const
{
    std::vector<webhook_id> found;
    for (const auto& [webhook, endpoint] : endpoints_)
        if (endpoint->health.is_tripped())
            found.push_back(webhook);
    return found;
}

void delivery_engine::reset_breaker(webhook_id webhook)
{
    if (const auto found = endpoints_.find(webhook); found != endpoints_.end())
        found->second->health = circuit_breaker{};
}

void delivery_engine::submit(delivery_job job)
{
    auto& endpoint = state_of(job.to->id);
    note_renewal(job.to->id, job.to->renewed_at);
    const auto queue = job.queue();
    endpoint.waiting_of(queue).push_back(std::move(job));
    pump(endpoint);
}

void delivery_engine::note_backlog(due_queue queue)
{
    auto& endpoint = state_of(queue.webhook);
    if (std::exchange(endpoint.backlog_of(queue.queue), ++backlogs_noted_) == 0)
        backlogs_.push_back(queue);
    notify_capacity(endpoint);
}

void delivery_engine::clear_backlog(const claim_request& request)
{
    auto& noted = state_of(request.queue.webhook).backlog_of(request.queue.queue);
    if (noted != request.noted)
        return;
    noted = 0;
    std::erase_if(backlogs_, [&](const due_queue& entry) {
        return entry.webhook == request.queue.webhook && entry.queue == request.queue.queue;
    });
}

std::vector<claim_request> delivery_engine::take_claim_requests()
{
    std::vector<claim_request> requests;
    for (const auto& queue : backlogs_) {
        auto& endpoint = state_of(queue.webhook);
        const auto free = capacity(endpoint, queue.queue);
        // A half-open breaker has capacity for one.
        if (free == 0 || (free < min_claim_size(queue.queue) && !endpoint.health.is_tripped()))
            continue;
        claim_request request;
        request.queue = queue;
        request.noted = endpoint.backlog_of(queue.queue);
        while (request.capacity < free && endpoint.window.reserve(queue.queue)) {
            ++request.capacity;
            ++held_;
        }
        requests.push_back(request);
    }
    return requests;
}

void delivery_engine::notify_capacity(const endpoint_state& endpoint)
{
    if (!claim_handler_)
        return;
    for (const auto queue : both_queues)
        if (endpoint.backlog[static_cast<std::size_t>(queue)] != 0 &&
            capacity(endpoint, queue) >= min_claim_size(queue))
            return claim_handler_();
}

awaitable<void> delivery_engine::wait_for_room()
{
    while (held_ >= limits_.held && !is_draining_)
        co_await has_room_.wait();
}

void delivery_engine::evict_idle()
{
    std::erase_if(endpoints_, [now = steady::now()](const auto& item) {
        const auto& endpoint = *item.second;
        return endpoint.window.is_idle() && endpoint.health.is_clean(now) &&
               endpoint.backlog[0] == 0 && endpoint.backlog[1] == 0;
    });
}

bool delivery_engine::has_room_for(account_id account) const
{
    if (in_flight() >= limits_.in_flight)
        return false;
    const auto found = in_flight_of_.find(account);
    return found == in_flight_of_.end() || found->second < limits_.in_flight_of_account;
}

void delivery_engine::pump(endpoint_state& endpoint)
{
    while (send_one(endpoint)) {
    }
}

// False if nothing waits, no slot is free, or a limit on requests is reached; in the last case the
// endpoint is starved.
bool delivery_engine::send_one(endpoint_state& endpoint)
{
    return std::any_of(std::begin(both_queues), std::end(both_queues),
                       [&](queue_kind queue) { return send_one(endpoint, queue); });
}

bool delivery_engine::send_one(endpoint_state& endpoint, queue_kind kind)
{
    auto& waiting = endpoint.waiting_of(kind);
    while (!waiting.empty() && endpoint.window.has_free_slot(kind)) {
        if (!has_room_for(waiting.front().to->account)) {
            starve(endpoint);
            return false;
        }
        const auto now = steady::now();
        const auto permit = endpoint.health.acquire(now);
        if (permit == circuit_breaker::permit::refused && !endpoint.health.is_open(now))
            return false; // a probe is in flight
        delivery_job job = std::move(waiting.front());
        waiting.pop_front();
        if (permit == circuit_breaker::permit::refused) {
            // Waiting behind an open breaker spends no attempt.
            give_back(endpoint, job, left_until(endpoint.health.open_until()));
            continue;
        }
        if (job.lease_end - now < min_lease_to_send) {
            endpoint.health.abandoned(permit);
            give_back(endpoint, job, std::chrono::milliseconds{0});
            continue;
        }
        endpoint.window.start(kind);
        in_flight_.add();
        ++in_flight_of_[job.to->account];
        auto task = deliver(endpoint, std::move(job), permit);
        boost::asio::co_spawn(host_.executor(), std::move(task), boost::asio::detached);
        return true;
    }
    return false;
}

void delivery_engine::give_back(endpoint_state& endpoint, const delivery_job& job,
                                std::chrono::milliseconds wait)
{
    endpoint.window.release(job.queue());
    --held_;
    has_room_.set();
    on_outcome_(unsent_outcome(job, wait));
}

awaitable<void> delivery_engine::deliver(endpoint_state& endpoint, delivery_job job,
                                         circuit_breaker::permit permit)
{
    sent_request sent;
    try {
        sent = co_await send_(job);
    } catch (const std::exception& error) {
        // A bug in sending counts as a failed attempt, so that the delivery is retried, not lost.
        log::error("webhook not sent",
                   {{"webhook_id", job.to->id.text()}, {"reason", error.what()}});
        sent.result.what = exchange_result::kind::network_down;
        sent.at = host_.clock().now();
    }
    finish(endpoint, job, permit, std::move(sent));
}

void delivery_engine::finish(endpoint_state& endpoint, const delivery_job& job,
                             circuit_breaker::permit permit, sent_request sent)
{
    const auto decision = judge(sent.result, facts_of(job, host_.clock().now()));
    const auto now = steady::now();
    if (!decision.is_failure)
        endpoint.health.succeeded(permit, now);
    else if (decision.next == delivery_decision::step::park ||
             decision.next == delivery_decision::step::abort)
        endpoint.health.abandoned(permit);
    else
        endpoint.health.failed(permit, decision.breaker_weight, now);

    in_flight_.done();
    if (const auto of_account = in_flight_of_.find(job.to->account); --of_account->second == 0)
        in_flight_of_.erase(of_account);
    --held_;
    endpoint.window.finish(job.queue());
    on_outcome_(outcome_after(job, std::move(sent), decision));

    has_room_.set();
    // Its own next request waits its turn behind those of others.
    if (endpoint.has_waiting())
        starve(endpoint);
    resume_starved();
    notify_capacity(endpoint);
}

void delivery_engine::starve(endpoint_state& endpoint)
{
    if (std::exchange(endpoint.is_starved, true))
        return;
    starved_.push_back(endpoint.id);
    watch_leases();
}

// Sends one request a turn, the longest starved endpoint first. Endpoints whose account is at its
// own limit stay starved; once all that are left were passed over, nothing more can be sent.
void delivery_engine::resume_starved()
{
    std::size_t passed_over = 0;
    while (passed_over < starved_.size() && in_flight() < limits_.in_flight) {
        auto& endpoint = state_of(starved_.front());
        starved_.pop_front();
        endpoint.is_starved = false;
        if (send_one(endpoint)) {
            passed_over = 0;
            if (endpoint.has_waiting())
                starve(endpoint);
        } else if (endpoint.is_starved) {
            ++passed_over;
        }
    }
}

void delivery_engine::watch_leases()
{
    if (std::exchange(is_watching_leases_, true))
        return;
    lease_watch_->expires_after(lease_watch_interval);
    // A timer that has expired calls its handler without an error even if it is destroyed before.
    lease_watch_->async_wait([this, watch = std::weak_ptr(lease_watch_)](const auto& canceled) {
        if (canceled || watch.expired()) // the engine is destroyed
            return;
        is_watching_leases_ = false;
        for (const auto& webhook : starved_)
            give_back_late(state_of(webhook));
        if (!starved_.empty())
            watch_leases();
    });
}

void delivery_engine::give_back_late(endpoint_state& endpoint)
{
    const auto sendable_until = steady::now() + min_lease_to_send;
    for (const auto queue : both_queues) {
        auto& waiting = endpoint.waiting_of(queue);
        const auto late =
            std::stable_partition(waiting.begin(), waiting.end(),
                                  [&](const auto& job) { return job.lease_end >= sendable_until; });
        for (auto job = late; job != waiting.end(); ++job)
            give_back(endpoint, *job, std::chrono::milliseconds{0});
        waiting.erase(late, waiting.end());
    }
}

awaitable<void> delivery_engine::drain(std::chrono::milliseconds timeout)
{
    is_draining_ = true;
    has_room_.set();
    for (const auto& [id, endpoint] : endpoints_) {
        for (const auto queue : both_queues) {
            auto waiting = std::exchange(endpoint->waiting_of(queue), {});
            for (const auto& job : waiting)
                give_back(*endpoint, job, std::chrono::milliseconds{0});
        }
        endpoint->is_starved = false;
    }
    starved_.clear();
    if (!co_await in_flight_.wait_until(async::deadline::after(timeout)))
        log::warning("requests still under way at the end, their deliveries will be repeated",
                     {{"requests", in_flight()}});
}

} // namespace tempinbox::webhooks
