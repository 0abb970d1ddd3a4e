#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/network.hpp"
#include "common/mail/client.hpp"
#include "tempinboxctl/api_client.hpp"
#include "tempinboxctl/command_result.hpp"
#include "tempinboxctl/smoke_receiver.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// What a smoke test is told.
struct smoke_request
{
    api_settings api;
    mail::server smtp;
    std::string sender;                // MAIL FROM; empty: smoke@ the inbox's domain
    std::string domain;                // of the inbox; empty: the default one
    std::optional<host_port> receiver; // where webhooks come in; absent: that step is skipped
    std::chrono::seconds wait{30};     // for the email, and for its webhook
};

// A step as it went.
struct smoke_step
{
    enum class status { ok, failed, skipped };

    std::string name;
    status ended = status::ok;
    std::chrono::milliseconds took{0};
    std::string detail; // what came of it, or why it failed
};

// `ok       mail      0.012 s  127.0.0.1:2525 took it`
std::string line_of(const smoke_step& step);
// All steps; a failure if one failed.
command_result to_result(const std::vector<smoke_step>& steps);

// One mail through the whole suite, as its users see it: an inbox by the API, mail over SMTP, the
// wait, the one-time code and, if there is a receiver that the service lets through, the webhook.
// Ends at the first failure; deletes what it made in any case.
class smoke_run
{
public:
    smoke_run(runtime::host& host, smoke_request request,
              std::function<void(const smoke_step&)> on_step);

    awaitable<std::vector<smoke_step>> run();

private:
    using outcome = result<std::string>; // the step's detail

    awaitable<bool> step(std::string name, awaitable<outcome> work);
    awaitable<void> run_steps();
    awaitable<outcome> create_inbox();
    awaitable<outcome> create_webhook();
    outcome send_mail();
    awaitable<outcome> send();
    awaitable<outcome> await_email();
    awaitable<outcome> check_code();
    awaitable<outcome> await_webhook();
    awaitable<outcome> clean_up();

    runtime::host& host_;
    const smoke_request request_;
    const std::function<void(const smoke_step&)> on_step_;
    const std::string code_;
    api_client api_;
    std::vector<smoke_step> steps_;
    std::optional<smoke_receiver> receiver_;
    std::string inbox_id_;
    std::string address_;
    std::string webhook_id_;
    std::string email_id_;
    std::string found_code_;
};

} // namespace tempinbox::ctl
