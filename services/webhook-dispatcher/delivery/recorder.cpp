#include "webhook-dispatcher/delivery/recorder.hpp"

#include "common/log/log.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::webhooks {
namespace {

constexpr std::size_t batch_limit = 500;
constexpr async::batch_policy policy{.max_items = batch_limit};
constexpr std::chrono::milliseconds retry_delay{200};
constexpr std::chrono::milliseconds backpressure_poll_interval{20};
constexpr std::chrono::seconds backpressure_timeout{5};
constexpr int attempts_alone = 3;

} // namespace

outcome_recorder::outcome_recorder(runtime::host& host, queue_repository& outcomes,
                                   endpoint_repository& endpoints,
                                   std::function<void(webhook_key)> on_replayed)
    : host_(host),
      outcomes_(outcomes),
      endpoints_(endpoints),
      on_replayed_(std::move(on_replayed)),
      has_started_(host.executor()),
      durations_(host.metrics().histogram("tempinbox_webhook_delivery_duration_seconds",
                                          "Time from the first byte to the whole response",
                                          metrics::wait_buckets())),
      email_to_webhook_(host.metrics().histogram(
          "tempinbox_email_to_webhook_seconds",
          "From the storing of an email to the response with which its webhook succeeded",
          metrics::wait_buckets())),
      batches_(host.executor(), policy, "outcomes not written",
               [this](std::vector<delivery_outcome> batch) { return write_all(std::move(batch)); })
{
    for (const auto name : {"succeeded", "retried", "postponed", "exhausted", "aborted",
                            "skipped_disabled", "dropped"})
        counters_[name] = &host.metrics().counter("tempinbox_webhook_deliveries_total",
                                                  "Deliveries by outcome", {{"outcome", name}});
}

void outcome_recorder::record(delivery_outcome outcome)
{
    count(outcome);
    batches_.submit(std::move(outcome));
}

void outcome_recorder::count(const delivery_outcome& outcome)
{
    auto name = to_string(outcome.next);
    if (outcome.next == delivery_outcome::state::waiting)
        name = outcome.has_attempt ? "retried" : "postponed";
    counters_.at(name)->Increment();
    if (outcome.has_attempt)
        durations_.Observe(std::chrono::duration<double>(outcome.took).count());
    if (outcome.is_email && outcome.next == delivery_outcome::state::succeeded)
        email_to_webhook_.Observe(
            std::chrono::duration<double>(outcome.at + outcome.took - outcome.event.value().time())
                .count());
}

awaitable<void> outcome_recorder::wait_for_room()
{
    const auto until = std::chrono::steady_clock::now() + backpressure_timeout;
    while (!has_room()) {
        if (std::chrono::steady_clock::now() >= until)
            throw dependency_error("outcomes of deliveries wait to be written");
        boost::asio::steady_timer delay(host_.executor(), backpressure_poll_interval);
        co_await delay.async_wait(boost::asio::use_awaitable);
    }
}

awaitable<void> outcome_recorder::drain(std::chrono::milliseconds timeout)
{
    co_await batches_.stop(async::deadline::after(timeout));
    if (pending() != 0)
        log::warning("outcomes not written before the end, their deliveries will be repeated",
                     {{"outcomes", pending()}});
}

awaitable<void> outcome_recorder::write_all(std::vector<delivery_outcome> batch)
{
    // False: this recorder ended before it began.
    if (!co_await has_started_.wait_until(async::deadline::never()))
        co_return;
    if (!co_await write(batch))
        co_await write_one_by_one(batch);
    report_replayed(batch);
    co_await disable_endpoints(batch);
}

void outcome_recorder::report_replayed(const std::vector<delivery_outcome>& batch)
{
    for (const auto& outcome : batch) {
        const bool waits_as_before =
            outcome.next == delivery_outcome::state::waiting && !outcome.has_attempt;
        if (outcome.is_replayed && !waits_as_before)
            on_replayed_({outcome.account, outcome.webhook});
    }
}

// False if PostgreSQL refuses the batch; while it is away this keeps trying.
awaitable<bool> outcome_recorder::write(const std::vector<delivery_outcome>& batch)
{
    for (;;) {
        std::string away, refused;
        try {
            co_await outcomes_.write(batch);
        } catch (const dependency_error& error) {
            // Outcomes of requests that were sent must not be lost: tried until PostgreSQL is back.
            away = error.what();
        } catch (const std::exception& error) {
            refused = error.what();
        }
        if (!refused.empty())
            log::warning("outcomes refused", {{"outcomes", batch.size()}, {"reason", refused}});
        if (away.empty())
            co_return refused.empty();
        log::warning("outcomes not written, trying again",
                     {{"outcomes", batch.size()}, {"reason", away}});
        boost::asio::steady_timer delay(host_.executor(), retry_delay);
        co_await delay.async_wait(boost::asio::use_awaitable);
    }
}

// An outcome that cannot be written must not block the others: its lease ends, and its delivery is
// repeated.
awaitable<void> outcome_recorder::write_one_by_one(std::vector<delivery_outcome> batch)
{
    for (auto& outcome : batch) {
        std::vector<delivery_outcome> alone;
        alone.push_back(std::move(outcome));
        bool is_written = false;
        for (int attempt = 1; attempt <= attempts_alone && !is_written; ++attempt) {
            is_written = co_await write(alone);
            // Text from the receiver is the likeliest reason.
            alone.front().response_body.clear();
            alone.front().error.clear();
        }
        if (!is_written)
            log::error("outcome lost", {{"event_id", alone.front().event.text()},
                                        {"webhook_id", alone.front().webhook.text()}});
    }
}

awaitable<void> outcome_recorder::disable_endpoints(const std::vector<delivery_outcome>& batch)
{
    for (const auto& outcome : batch) {
        if (outcome.disables_endpoint.empty())
            continue;
        try {
            co_await endpoints_.disable(outcome.account, outcome.webhook, outcome.disables_endpoint,
                                        outcome.endpoint_renewed_at);
            log::info("webhook disabled", {{"webhook_id", outcome.webhook.text()},
                                           {"reason", outcome.disables_endpoint}});
        } catch (const std::exception& error) {
            // The next delivery to this endpoint finds the same reason.
            log::warning("webhook not disabled",
                         {{"webhook_id", outcome.webhook.text()}, {"reason", error.what()}});
        }
    }
}

} // namespace tempinbox::webhooks
