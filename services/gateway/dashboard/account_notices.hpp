#pragma once

#include "accounts/account_repository.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/dashboard/mail_relay.hpp"
#include "gateway/dashboard/outgoing_message.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// One email that a service has for an account.
struct account_notice
{
    std::string account_id;
    outgoing_message message; // without its address, which is the account's
    // Records at the service that the account was notified. A failure is logged: the service then
    // has the notice claimed once more.
    std::function<awaitable<void>()> settle;
};

// The notices of one kind, at the service that has them.
struct notice_source
{
    std::string task; // "notify_of_ending_inboxes", in log lines and metrics
    std::chrono::seconds poll_interval;
    // At most `limit`, which no other replica gets meanwhile. Throws if the service cannot answer.
    std::function<awaitable<std::vector<account_notice>>(int limit)> claim;
};

// Webhooks that the service switched off. `webhooks` outlives what is returned.
notice_source disabled_webhook_notices(webhook_client& webhooks, std::string dashboard_url);
// Captures and catch-alls in use that end soon. `inboxes` outlives what is returned.
notice_source ending_inbox_notices(inbox_client& inboxes, std::string dashboard_url);

// Emails accounts the notices of one source. A notice is settled only once the relay has its
// message, or if its account cannot be mailed, so a lost message is sent again. Without a relay it
// does nothing.
class account_notices
{
public:
    // The references must outlive this object.
    account_notices(runtime::host& host, notice_source source,
                    accounts::account_repository& accounts, mail_relay& relay);
    account_notices(const account_notices&) = delete;

    void start();
    awaitable<void> stop();

private:
    awaitable<std::chrono::microseconds> poll();
    awaitable<void> send(account_notice notice);

    runtime::host& host_;
    notice_source source_;
    accounts::account_repository& accounts_;
    mail_relay& relay_;
    async::periodic_task poll_task_;
};

} // namespace tempinbox::gateway
