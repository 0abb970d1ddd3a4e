#pragma once

#include "common/outbox/outbox.hpp"
#include "mailbox/types.hpp"

namespace tempinbox::mailbox {

// Outbox rows for inbox events; each has an id of its own and starts a trace.
outbox::row make_created_event(const inbox& made);

struct ended_inbox
{
    account_id account;
    inbox_id id;
    std::string address;
    time_point created_at;
    time_point expires_at;
    time_point expired_at;
    std::int64_t state_version = 1;
    expiry_reason reason = expiry_reason::ttl;
};
outbox::row make_expired_event(const ended_inbox& ended);

// inbox.state: of an inbox that lives and came into its state at `changed_at`, of one that ended,
// and the tombstone of one that was purged in its last state.
outbox::row make_state_event(const inbox& living, time_point changed_at);
outbox::row make_state_event(const ended_inbox& ended);
outbox::row make_state_tombstone(account_id account, inbox_id id, std::int64_t last_version);

} // namespace tempinbox::mailbox
