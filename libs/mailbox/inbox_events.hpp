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
    time_point expired_at;
    expiry_reason reason = expiry_reason::ttl;
};
outbox::row make_expired_event(const ended_inbox& ended);

} // namespace tempinbox::mailbox
