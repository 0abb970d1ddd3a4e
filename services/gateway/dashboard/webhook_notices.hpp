#pragma once

#include "accounts/account_repository.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/dashboard/mail_relay.hpp"

namespace tempinbox::gateway {

// Emails accounts whose webhook the service switched off. Claims notices from the webhook
// dispatcher every 15 s. A notice is settled only once the relay has its message, so a lost message
// is sent again. Without a relay it does nothing.
class webhook_notices
{
public:
    // The services must outlive this object.
    webhook_notices(runtime::host& host, webhook_client& webhooks,
                    accounts::account_repository& accounts, mail_relay& relay);
    webhook_notices(const webhook_notices&) = delete;

    void start();
    awaitable<void> stop();

private:
    awaitable<std::chrono::microseconds> poll();
    awaitable<void> send(webhooks::v1::DisabledNotice notice);
    awaitable<void> settle(webhooks::v1::DisabledNotice notice);
    void settle_later(webhooks::v1::DisabledNotice notice);

    runtime::host& host_;
    webhook_client& webhooks_;
    accounts::account_repository& accounts_;
    mail_relay& relay_;
    async::periodic_task poll_task_;
};

} // namespace tempinbox::gateway
