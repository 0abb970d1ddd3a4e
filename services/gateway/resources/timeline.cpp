#include "gateway/resources/timeline.hpp"

#include "common/async/reset_event.hpp"
#include "common/json/writer.hpp"
#include "gateway/json/fields.hpp"
#include "gateway/resources/path_ids.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace tempinbox::gateway {
namespace {

using inbox::v1::GetEmailArrivalResponse;
using webhooks::v1::EmailDelivery;
using webhooks::v1::EmailDeliveryAttempt;
using webhooks::v1::GetEmailDeliveriesResponse;

enum class step_kind { connected, accepted, stored, published, rules, delivery, attempt };

std::string_view to_string(step_kind kind)
{
    switch (kind) {
    case step_kind::connected:
        return "connected";
    case step_kind::accepted:
        return "accepted";
    case step_kind::stored:
        return "stored";
    case step_kind::published:
        return "published";
    case step_kind::rules:
        return "rules";
    case step_kind::delivery:
        return "delivery";
    case step_kind::attempt:
        return "attempt";
    }
    return {};
}

struct timeline_step
{
    step_kind kind = step_kind::connected;
    std::optional<time_point> at = {};
    std::string_view note = {}; // why there is no time, or what it is; empty: nothing to say
    time_point order = {};      // where it stands: its time, but never before its cause
    const EmailDelivery* delivery = nullptr;
    const EmailDeliveryAttempt* attempt = nullptr;
};

using deliveries_result = result<GetEmailDeliveriesResponse>;

struct timeline
{
    const GetEmailArrivalResponse& arrival;
    const deliveries_result& deliveries;
    std::vector<timeline_step> steps;

    // Returns the step's order, for those that it causes.
    time_point add(timeline_step step, time_point cause)
    {
        step.order = step.at ? std::max(*step.at, cause) : cause;
        steps.push_back(step);
        return step.order;
    }

    // The dispatcher may have the event while its row has not yet left the outbox.
    bool is_published() const
    {
        return !arrival.has_unpublished_since() ||
               (deliveries && (deliveries->rules_size() > 0 || deliveries->deliveries_size() > 0));
    }
};

time_point add_arrival(timeline& line)
{
    const auto received_at = rpc::to_time(line.arrival.received_at());
    line.add({step_kind::connected, std::nullopt,
              "The time of the connection is not stored; it was before accepted"},
             received_at);
    const auto accepted =
        line.add({step_kind::accepted, received_at,
                  "When the whole message was there: the time of the Received header"},
                 received_at);

    timeline_step stored{step_kind::stored};
    if (line.arrival.has_unpublished_since())
        stored.at = rpc::to_time(line.arrival.unpublished_since());
    else
        stored.note = "The time of the commit is not stored; the sender's 250 came after it";
    const auto stored_order = line.add(stored, accepted);

    return line.add({step_kind::published, std::nullopt,
                     line.is_published() ? "The time of publishing is not stored"
                                         : "The event waits to be published"},
                    stored_order);
}

void add_rules(timeline& line, time_point published)
{
    timeline_step rules{step_kind::rules};
    if (line.deliveries->deliveries_size() > 0) {
        rules.at = rpc::to_time(line.deliveries->deliveries(0).created_at());
        rules.note = "Taken from the first delivery, which was made at the same time";
    } else {
        rules.note = "The time of the rules is not stored where there is no delivery";
    }
    line.add(rules, published);
}

void add_delivery(timeline& line, const EmailDelivery& delivery, time_point published)
{
    auto cause = line.add(
        {step_kind::delivery, rpc::to_time(delivery.created_at()), {}, {}, &delivery}, published);
    for (const auto& attempt : delivery.attempts())
        cause = line.add(
            {step_kind::attempt, rpc::to_time(attempt.at()), {}, {}, &delivery, &attempt}, cause);
}

timeline make_timeline(const GetEmailArrivalResponse& arrival, const deliveries_result& deliveries)
{
    timeline line{arrival, deliveries, {}};
    const auto published = add_arrival(line);
    if (deliveries) {
        if (deliveries->rules_size() > 0)
            add_rules(line, published);
        for (const auto& delivery : deliveries->deliveries())
            add_delivery(line, delivery, published);
    }
    std::stable_sort(line.steps.begin(), line.steps.end(),
                     [](const auto& a, const auto& b) { return a.order < b.order; });
    return line;
}

void put_rule(json::writer& out, const webhooks::v1::NamedRuleOutcome& rule)
{
    out.begin_object().member("ruleId", rule.rule_id());
    put_text(out, "name", rule.has_name(), rule.name());
    out.member("isMatch", rule.matched()).end_object();
}

void put_delivery(json::writer& out, const EmailDelivery& delivery)
{
    out.member("deliveryId", delivery.delivery_id());
    out.member("webhookId", delivery.webhook_id());
    put_text(out, "url", delivery.has_url(), delivery.url());
    out.member("status", delivery.status());
    put_time(out, "nextAttemptAt", delivery.has_next_attempt_at(), delivery.next_attempt_at());
    put_text(out, "reason", delivery.has_reason(), delivery.reason());
    put_texts(out, "ruleIds", delivery.rule_ids());
}

// The next attempt is that of the delivery's newest one: of earlier ones it is in the timeline.
void put_attempt(json::writer& out, const EmailDelivery& delivery,
                 const EmailDeliveryAttempt& attempt)
{
    // A 2xx counts even if the response's body could not be read.
    const bool has_succeeded = attempt.has_status_code() && attempt.status_code() / 100 == 2;
    const bool is_newest = &attempt == &*delivery.attempts().rbegin();
    out.member("webhookId", delivery.webhook_id());
    out.member("number", attempt.number());
    if (attempt.has_status_code())
        out.member("statusCode", attempt.status_code());
    else
        out.null_member("statusCode");
    out.member("durationMs", attempt.duration_ms());
    out.member("outcome", has_succeeded ? "succeeded" : "failed");
    put_text(out, "error", attempt.has_error(), attempt.error());
    put_time(out, "nextAttemptAt", is_newest && delivery.has_next_attempt_at(),
             delivery.next_attempt_at());
}

void put_step(json::writer& out, const timeline& line, const timeline_step& step)
{
    const auto& envelope = line.arrival.envelope();
    out.begin_object();
    out.member("step", to_string(step.kind));
    out.member("at", step.at);
    put_text(out, "note", !step.note.empty(), std::string(step.note));
    switch (step.kind) {
    case step_kind::connected:
        out.member("remoteAddress", envelope.remote_address());
        out.member("helo", envelope.helo());
        put_text(out, "tls", envelope.has_tls(), envelope.tls());
        put_text(out, "login", envelope.has_login(), envelope.login());
        break;
    case step_kind::accepted:
        out.member("mailFrom", envelope.mail_from());
        put_texts(out, "recipients", line.arrival.recipients());
        out.member("sizeBytes", line.arrival.size_bytes());
        break;
    case step_kind::stored:
        break;
    case step_kind::published:
        out.member("isPublished", line.is_published());
        break;
    case step_kind::rules:
        put_objects(out, "rules", line.deliveries->rules(), put_rule);
        break;
    case step_kind::delivery:
        put_delivery(out, *step.delivery);
        break;
    case step_kind::attempt:
        put_attempt(out, *step.delivery, *step.attempt);
        break;
    }
    out.end_object();
}

// Calling again helps if the dispatcher did not answer, and not without the scope.
std::string_view missing_word(const failure& why)
{
    return why.reason == error_reason::scope_required ? "webhooks_scope_required"
                                                      : "webhooks_unavailable";
}

// What the dispatcher answered. It is shared with the call, which may outlive a caller that hangs
// up.
struct dispatcher_part
{
    deliveries_result found = failure{errc::unavailable, "not called yet"};
    async::reset_event is_done;

    explicit dispatcher_part(const boost::asio::any_io_executor& executor) : is_done(executor) {}
};

awaitable<void> ask_dispatcher(webhook_client& webhooks,
                               webhooks::v1::GetEmailDeliveriesRequest request,
                               std::shared_ptr<dispatcher_part> part)
{
    part->found =
        co_await webhooks.try_call(webhook_methods::get_email_deliveries, std::move(request));
}

} // namespace

std::string timeline_json(std::string_view email_id, const GetEmailArrivalResponse& arrival,
                          const deliveries_result& deliveries)
{
    const auto line = make_timeline(arrival, deliveries);
    json::writer out;
    out.begin_object();
    out.member("emailId", email_id);
    out.member("inboxId", arrival.inbox_id());
    out.key("steps").begin_array();
    for (const auto& step : line.steps)
        put_step(out, line, step);
    out.end_array();
    out.key("missing").begin_array();
    if (!deliveries)
        out.value(missing_word(deliveries.error()));
    out.end_array();
    out.member("isTruncated", deliveries && deliveries->is_truncated());
    out.end_object();
    return out.take();
}

// GET /v1/emails/{emailId}/timeline
awaitable<http::response> get_email_timeline(const http::request& received, const caller& who,
                                             inbox_client& inboxes, webhook_client& webhooks,
                                             response_budget& memory)
{
    auto request =
        without_query(received, read_email_path<inbox::v1::GetEmailArrivalRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    // Both services are asked at the same time. A call that throws leaves the part as not answered.
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto part = std::make_shared<dispatcher_part>(executor);
    if (who.may(accounts::scope::webhooks_read)) {
        webhooks::v1::GetEmailDeliveriesRequest deliveries_request;
        deliveries_request.set_account_id(request->account_id());
        deliveries_request.set_email_id(request->email_id());
        boost::asio::co_spawn(executor,
                              ask_dispatcher(webhooks, std::move(deliveries_request), part),
                              [part](std::exception_ptr) { part->is_done.set(); });
    } else {
        part->found = failure{errc::permission_denied, "The key lacks the scope webhooks:read",
                              error_reason::scope_required};
        part->is_done.set();
    }
    const auto arrival = co_await inboxes.call(inbox_methods::get_email_arrival, *request);
    co_await part->is_done.wait();
    if (!arrival)
        co_return http::error_response(arrival.error());

    auto json = timeline_json(request->email_id(), *arrival, part->found);
    co_return reserve_response(http::ok_json(std::move(json)), who.account(), memory);
}

} // namespace tempinbox::gateway
