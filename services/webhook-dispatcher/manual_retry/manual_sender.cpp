#include "webhook-dispatcher/manual_retry/manual_sender.hpp"

#include "webhook-dispatcher/delivery/schedule.hpp"
#include "webhook-dispatcher/events/decoded_event.hpp"
#include "webhook-dispatcher/manual_retry/sample_event.hpp"

#include "common/log/log.hpp"

namespace tempinbox::webhooks {
namespace {

// Each may wait for its receiver as long as a whole exchange.
constexpr std::size_t max_in_flight = 200;
constexpr std::size_t max_in_flight_of_account = 10;

event_kind first_of(const event_set& events)
{
    for (const auto kind : all_event_kinds)
        if (events.contains(kind))
            return kind;
    return event_kind::email_received;
}

new_event stored_form(const decoded_event& sample)
{
    new_event stored;
    stored.id = sample.id;
    stored.account = sample.account;
    stored.kind = sample.kind;
    stored.occurred_at = sample.occurred_at;
    stored.body = make_payload(sample);
    return stored;
}

delivery_job make_job(const taken_delivery& taken, std::shared_ptr<const receiver> to,
                      event_id event, uuid lease)
{
    auto outgoing = std::make_shared<outgoing_event>();
    outgoing->id = event;
    outgoing->body = taken.body;
    outgoing->traceparent = taken.traceparent;
    delivery_job job;
    job.event = std::move(outgoing);
    job.to = std::move(to);
    job.attempts_made = taken.attempts;
    job.lease = lease;
    job.lease_end = std::chrono::steady_clock::now() + lease_time;
    job.began = taken.began;
    return job;
}

manual_attempt make_attempt(const delivery_job& job, const taken_delivery& taken,
                            const delivery_decision& decision, sent_request sent)
{
    manual_attempt attempt;
    attempt.event = job.event->id;
    attempt.webhook = job.to->id;
    attempt.account = job.to->account;
    attempt.lease = job.lease;
    attempt.was_finished = taken.was_finished;
    attempt.has_succeeded = !decision.is_failure;
    attempt.number = taken.attempts + 1;
    attempt.at = sent.at;
    attempt.took = sent.took;
    attempt.status = sent.result.status;
    attempt.error = decision.error;
    attempt.response_body = std::move(sent.response_body);
    return attempt;
}

// Counts a request in flight, in all and of its account, for as long as this object lives.
struct in_flight_guard
{
    using counts = std::unordered_map<account_id, std::size_t>;

    in_flight_guard(async::wait_group& all, counts& by_account, account_id account)
        : all_(all),
          by_account_(by_account),
          account_(account)
    {
        all_.add();
        ++by_account_[account_];
    }
    ~in_flight_guard()
    {
        const auto found = by_account_.find(account_);
        if (--found->second == 0)
            by_account_.erase(found);
        all_.done();
    }
    in_flight_guard(const in_flight_guard&) = delete;

private:
    async::wait_group& all_;
    counts& by_account_;
    account_id account_;
};

} // namespace

manual_sender::manual_sender(runtime::host& host, manual_delivery_repository& deliveries,
                             config_cache& configs, request_sender send)
    : host_(host),
      deliveries_(deliveries),
      configs_(configs),
      send_(std::move(send)),
      in_flight_(host.executor()),
      sent_(host.metrics().counter("tempinbox_webhook_dispatcher_manual_sends_total",
                                   "Tests and manual retries sent"))
{}

result<void> manual_sender::check_capacity(account_id account) const
{
    if (is_draining_ || in_flight_.count() >= max_in_flight)
        return failure{errc::unavailable, "too many requests are sent by hand", error_reason::busy};
    const auto of_account = in_flight_of_.find(account);
    if (of_account != in_flight_of_.end() && of_account->second >= max_in_flight_of_account)
        return failure{errc::rate_limited,
                       "Of the tests and single retries of an account at most " +
                           std::to_string(max_in_flight_of_account) +
                           " are sent at a time; try again when a receiver has answered one",
                       error_reason::manual_limit};
    return {};
}

awaitable<result<manual_sender::receiver_ptr>> manual_sender::find_receiver(account_id account,
                                                                            webhook_id webhook)
{
    const std::vector<account_id> accounts(1, account);
    const auto configs = co_await configs_.current(accounts);
    const auto config = configs.find(account);
    auto to = config == configs.end() ? nullptr : config->second->find(webhook);
    if (!to)
        co_return failure(errc::not_found, "Webhook " + webhook.text() + " does not exist");
    if (!config->second->is_active(webhook, host_.clock().now()))
        co_return failure(
            errc::permission_denied,
            "The plan has no place for this webhook; it has more webhooks than it allows",
            error_reason::webhook_limit);
    if (to->refusal)
        co_return failure(errc::conflict,
                          "Webhook " + webhook.text() + " is switched off: " + *to->refusal,
                          error_reason::webhook_disabled);
    co_return to;
}

awaitable<result<void>> manual_sender::test(account_id account, webhook_id webhook, event_id event,
                                            std::optional<event_kind> kind)
{
    const auto capacity = check_capacity(account);
    if (!capacity)
        co_return capacity.error();
    const in_flight_guard held(in_flight_, in_flight_of_, account);
    auto to = co_await find_receiver(account, webhook);
    if (!to)
        co_return to.error();
    const auto sample =
        make_sample(kind ? *kind : first_of((*to)->events), event, account, host_.clock().now());
    auto stored = stored_form(sample);
    const auto lease = uuid::make_v7();
    // After a crash, the process that takes over makes the last attempt.
    auto taken =
        co_await deliveries_.begin_test(std::move(stored), webhook, attempt_limit - 1, lease);
    if (!taken)
        co_return taken.error();
    if (!taken->was_sent_before)
        co_await send(std::move(*taken), std::move(*to), event, lease);
    co_return result<void>();
}

awaitable<result<void>> manual_sender::retry(account_id account, webhook_id webhook, event_id event,
                                             uuid lease)
{
    const auto capacity = check_capacity(account);
    if (!capacity)
        co_return capacity.error();
    const in_flight_guard held(in_flight_, in_flight_of_, account);
    auto to = co_await find_receiver(account, webhook);
    if (!to)
        co_return to.error();
    if (!(*to)->is_enabled)
        co_return failure(errc::conflict,
                          "Webhook " + webhook.text() +
                              " is switched off; PATCH it with isEnabled true first",
                          error_reason::webhook_disabled);
    auto taken = co_await deliveries_.take(account, webhook, event, lease);
    if (!taken)
        co_return taken.error();
    if (!taken->was_sent_before)
        co_await send(std::move(*taken), std::move(*to), event, lease);
    co_return result<void>();
}

awaitable<void> manual_sender::send(taken_delivery taken, receiver_ptr to, event_id event,
                                    uuid lease)
{
    const auto job = make_job(taken, std::move(to), event, lease);
    auto sent = co_await exchange(job);
    sent_.Increment();
    const auto decision = judge(sent.result, facts_of(job, host_.clock().now()));
    auto attempt = make_attempt(job, taken, decision, std::move(sent));
    co_await deliveries_.finish(std::move(attempt));
}

awaitable<sent_request> manual_sender::exchange(delivery_job job)
{
    sent_request sent;
    try {
        sent = co_await send_(job);
    } catch (const std::exception& error) {
        // A bug in sending counts as a failed attempt, whose outcome is written like any other.
        log::error("webhook not sent",
                   {{"webhook_id", job.to->id.text()}, {"reason", error.what()}});
        sent.result.what = exchange_result::kind::network_down;
        sent.result.detail = "the request could not be sent";
        sent.at = host_.clock().now();
    }
    co_return sent;
}

awaitable<void> manual_sender::drain(std::chrono::steady_clock::time_point until)
{
    is_draining_ = true;
    co_await in_flight_.wait_until(until);
}

} // namespace tempinbox::webhooks
