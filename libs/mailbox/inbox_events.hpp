#pragma once

#include "common/outbox/outbox.hpp"
#include "mailbox/types.hpp"

namespace tempinbox::mailbox {

// Outbox rows for inbox events; each starts a trace. The row of the inbox keeps the ids of the
// first two, so that they can be made again (backfill.hpp).
outbox::row make_created_event(const inbox& made, event_id id);

struct ended_inbox
{
    account_id account;
    inbox_id id;
    std::string address;
    time_point created_at;
    time_point expires_at;
    time_point expired_at;
    std::int64_t state_version = 1;
    event_id event; // of inbox.expired
    expiry_reason reason = expiry_reason::ttl;
};
outbox::row make_expired_event(const ended_inbox& ended);

// inbox.state: of an inbox that lives and came into its state at `changed_at`, of one that ended,
// and the tombstone of one that was purged in its last state.
outbox::row make_state_event(const inbox& living, time_point changed_at);
outbox::row make_state_event(const ended_inbox& ended);
outbox::row make_state_tombstone(account_id account, inbox_id id, std::int64_t last_version);

} // namespace tempinbox::mailbox
