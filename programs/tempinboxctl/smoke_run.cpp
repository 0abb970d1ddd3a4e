#include "tempinboxctl/smoke_run.hpp"

#include "common/core/ids.hpp"
#include "common/json/value.hpp"
#include "common/json/writer.hpp"
#include "common/mail/outgoing_message.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstdio>

namespace tempinbox::ctl {
namespace {

using steady = std::chrono::steady_clock;

// Should the process end before it has deleted the inbox.
constexpr std::int64_t inbox_ttl_seconds = 600;
// What GET …/emails/wait takes.
constexpr std::chrono::seconds max_wait{60};

// Six digits, the first of which is no zero.
std::string make_code()
{
    return std::to_string(100'000 + ::randombytes_uniform(900'000));
}

constexpr std::string_view skip_mark = "skipped: ";

std::string_view text_of(smoke_step::status ended)
{
    switch (ended) {
    case smoke_step::status::ok:
        return "ok";
    case smoke_step::status::failed:
        return "failed";
    case smoke_step::status::skipped:
        return "skipped";
    }
    return "failed";
}

} // namespace

std::string line_of(const smoke_step& step)
{
    char start[64];
    std::snprintf(start, sizeof start, "%-8s %-9s %7.3f s  ",
                  std::string(text_of(step.ended)).c_str(), step.name.c_str(),
                  std::chrono::duration<double>(step.took).count());
    return start + step.detail;
}

command_result to_result(const std::vector<smoke_step>& steps)
{
    std::vector<record> all;
    for (const auto& step : steps)
        all.emplace_back()
            .add("step", step.name)
            .add("status", std::string(text_of(step.ended)))
            .add("durationMs", std::int64_t{step.took.count()})
            .add("detail", step.detail);
    command_result shown("steps", std::move(all));
    shown.is_failure = std::any_of(steps.begin(), steps.end(), [](const smoke_step& step) {
        return step.ended == smoke_step::status::failed;
    });
    // The lines were printed as the steps ended.
    shown.text = shown.is_failure ? "smoke test failed\n" : "smoke test passed\n";
    return shown;
}

smoke_run::smoke_run(runtime::host& host, smoke_request request,
                     std::function<void(const smoke_step&)> on_step)
    : host_(host),
      request_(std::move(request)),
      on_step_(std::move(on_step)),
      code_(make_code()),
      api_(host, request_.api)
{}

awaitable<std::vector<smoke_step>> smoke_run::run()
{
    co_await run_steps();
    if (!inbox_id_.empty() || !webhook_id_.empty())
        co_await step("clean up", clean_up());
    co_return steps_;
}

awaitable<void> smoke_run::run_steps()
{
    if (!co_await step("inbox", create_inbox()) || !co_await step("endpoint", create_webhook()) ||
        !co_await step("mail", send()) || !co_await step("wait", await_email()) ||
        !co_await step("code", check_code()))
        co_return;
    if (!webhook_id_.empty())
        co_await step("webhook", await_webhook());
}

// False: it failed.
awaitable<bool> smoke_run::step(std::string name, awaitable<outcome> work)
{
    const auto start = steady::now();
    const auto ended = co_await std::move(work);
    smoke_step done;
    done.name = std::move(name);
    done.took = std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - start);
    done.ended = ended ? smoke_step::status::ok : smoke_step::status::failed;
    done.detail = ended ? *ended : ended.error().message;
    if (done.detail.starts_with(skip_mark)) {
        done.ended = smoke_step::status::skipped;
        done.detail.erase(0, skip_mark.size());
    }
    on_step_(done);
    steps_.push_back(std::move(done));
    co_return ended.has_value();
}

awaitable<smoke_run::outcome> smoke_run::create_inbox()
{
    json::writer body;
    body.begin_object().member("ttlSeconds", inbox_ttl_seconds).member("name", "smoke test");
    if (!request_.domain.empty())
        body.member("domain", request_.domain);
    body.end_object();
    const auto answered =
        co_await api_.call("POST", "/v1/inboxes", body.take(), 201, request_.api.timeout);
    if (!answered)
        co_return answered.error();
    const auto inbox = read_body(*answered);
    if (!inbox)
        co_return inbox.error();
    inbox_id_ = text_field(*inbox, "inboxId");
    address_ = text_field(*inbox, "emailAddress");
    co_return address_;
}

awaitable<smoke_run::outcome> smoke_run::create_webhook()
{
    if (!request_.receiver)
        co_return std::string(skip_mark) + "no --receiver";
    // An address that cannot be bound is a failure of the step like any other.
    try {
        receiver_.emplace(host_, *request_.receiver);
    } catch (const std::exception& error) {
        co_return failure(errc::unavailable, "the receiver cannot listen at " +
                                                 request_.receiver->text() + ": " + error.what());
    }
    const auto url = "http://" + request_.receiver->text() + "/smoke";
    json::writer body;
    body.begin_object().member("url", url).member("description", "smoke test");
    body.member("events", std::vector<std::string>{"email.received"}).end_object();
    const auto answered =
        co_await api_.call("POST", "/v1/webhooks", body.take(), 201, request_.api.timeout);
    if (!answered) {
        // docs/settings.md: `webhook-allow-networks`, `webhook-allow-http`. The operator's
        // rules are right as they are, so nothing failed.
        const auto& message = answered.error().message;
        if (answered.error().code == errc::unprocessable &&
            message.find("is private, local or reserved") != std::string::npos)
            co_return std::string(skip_mark) + "receiver is private";
        if (answered.error().code == errc::unprocessable &&
            message.find("must begin with https://") != std::string::npos)
            co_return std::string(skip_mark) + "receivers must have https";
        co_return answered.error();
    }
    const auto webhook = read_body(*answered);
    if (!webhook)
        co_return webhook.error();
    webhook_id_ = text_field(*webhook, "webhookId");
    receiver_->set_secret(secret(text_field(*webhook, "secret")));
    co_return url;
}

awaitable<smoke_run::outcome> smoke_run::send()
{
    co_return send_mail();
}

// Blocks, as nothing else has to run on the loop until the mail is sent.
smoke_run::outcome smoke_run::send_mail()
{
    const auto sender =
        request_.sender.empty()
            ? "smoke" + address_.substr(std::min(address_.find('@'), address_.size()))
            : request_.sender;
    if (!mail::can_be_mailed(address_) || !mail::can_be_mailed(sender))
        return failure{errc::invalid_argument,
                       "no mail can be sent from " + sender + " to " + address_};
    mail::outgoing_message message;
    message.to = address_;
    message.subject = "Your verification code";
    message.text = "Your verification code is " + code_ + ".\n";
    const auto text =
        mail::to_rfc5322(message, sender, uuid::make_v7().text(), host_.clock().now());
    if (const auto refused = mail::send(request_.smtp, sender, address_, text))
        return failure{errc::unavailable,
                       "SMTP server " + request_.smtp.address + ": " + refused->reason};
    return request_.smtp.address + " took it";
}

// The service answers after a minute at the latest, or when it restarts: then again.
awaitable<smoke_run::outcome> smoke_run::await_email()
{
    const auto until = steady::now() + request_.wait;
    std::string outcome_text = "timeout";
    while (outcome_text == "timeout" || outcome_text == "draining") {
        const auto left = std::chrono::ceil<std::chrono::seconds>(until - steady::now());
        if (left.count() <= 0)
            co_return failure(errc::deadline_exceeded, "no email with a code in " +
                                                           std::to_string(request_.wait.count()) +
                                                           " s, though the SMTP server took it");
        const auto part = std::min(left, max_wait);
        const auto path = "/v1/inboxes/" + inbox_id_ + "/emails/wait?hasCode=true&timeoutSeconds=" +
                          std::to_string(part.count());
        const auto answered = co_await api_.call("GET", path, "", 200, part + request_.api.timeout);
        if (!answered)
            co_return answered.error();
        const auto body = read_body(*answered);
        if (!body)
            co_return body.error();
        outcome_text = text_field(*body, "outcome");
        const auto email = body->find("email");
        if (!email || !email->is_object())
            continue;
        email_id_ = text_field(*email, "emailId");
        const auto codes = email->find("codes");
        if (codes && codes->is_array() && codes->size() > 0)
            found_code_ = text_field((*codes)[0], "value");
    }
    if (outcome_text != "matched")
        co_return failure(errc::internal, "the wait ended as " + outcome_text);
    co_return "email " + email_id_;
}

awaitable<smoke_run::outcome> smoke_run::check_code()
{
    if (found_code_ != code_)
        co_return failure(errc::internal, "the code found is " + found_code_ + ", not " + code_);
    co_return code_;
}

// The event has the id of its email (docs/events/contract.md).
awaitable<smoke_run::outcome> smoke_run::await_webhook()
{
    if (!co_await receiver_->await_event(email_id_, request_.wait))
        co_return failure(errc::deadline_exceeded,
                          "no webhook with a good signature came to " + request_.receiver->text() +
                              " in " + std::to_string(request_.wait.count()) + " s");
    co_return "event " + email_id_;
}

// Both are tried, whatever becomes of the first.
awaitable<smoke_run::outcome> smoke_run::clean_up()
{
    outcome ended = std::string("nothing is left");
    if (!webhook_id_.empty()) {
        const auto answered = co_await api_.call("DELETE", "/v1/webhooks/" + webhook_id_, "", 200,
                                                 request_.api.timeout);
        if (!answered)
            ended = answered.error();
    }
    if (!inbox_id_.empty()) {
        const auto answered =
            co_await api_.call("DELETE", "/v1/inboxes/" + inbox_id_, "", 200, request_.api.timeout);
        if (!answered)
            ended = answered.error();
    }
    co_return ended;
}

} // namespace tempinbox::ctl
