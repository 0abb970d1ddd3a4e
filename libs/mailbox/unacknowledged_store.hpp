#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <string>
#include <vector>

namespace tempinbox::mailbox {

struct email_key
{
    account_id account;
    email_id id;
};

// Emails whose sender may not have seen the 250, kept for ten minutes: by them
// mailbox.store_mail_once recognizes a second delivery of the same message. Only those with a
// Message-ID are kept.
class unacknowledged_store
{
public:
    explicit unacknowledged_store(postgres::pool& db);

    awaitable<void> mark(std::vector<email_key> emails);

    // Call this at start. If the last process of that name did not sign off, it crashed: its mail
    // of the minute before is marked.
    awaitable<void> sign_on(std::string replica);
    // Call this every few seconds: shows that this process is alive, marks the last minute's mail
    // of processes silent for 30 s, and purges expired entries.
    awaitable<void> heartbeat(std::string replica);
    // Call this at an orderly end.
    awaitable<void> sign_off(std::string replica);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
