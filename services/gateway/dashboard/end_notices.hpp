#pragma once

#include "accounts/account_repository.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/dashboard/mail_relay.hpp"

namespace tempinbox::gateway {

// Emails accounts before a capture or a catch-all of theirs that is in use ends. Claims notices
// from the inbox service every minute, and settles each once the relay has its message: a lost
// message is sent again, with the same Message-ID. Without a relay it does nothing.
class end_notices
{
public:
    // The services must outlive this object.
    end_notices(runtime::host& host, inbox_client& inboxes, accounts::account_repository& accounts,
                mail_relay& relay);
    end_notices(const end_notices&) = delete;

    void start();
    awaitable<void> stop();

private:
    awaitable<std::chrono::microseconds> poll();
    awaitable<void> send(inbox::v1::EndNotice notice);
    awaitable<void> settle(inbox::v1::EndNotice notice);
    void settle_later(inbox::v1::EndNotice notice);

    runtime::host& host_;
    inbox_client& inboxes_;
    accounts::account_repository& accounts_;
    mail_relay& relay_;
    async::periodic_task poll_task_;
};

} // namespace tempinbox::gateway
