#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "inbox/maintenance.hpp"
#include "inbox/reading/email_reader.hpp"
#include "inbox/reading/message_parser.hpp"
#include "inbox/reading/message_search.hpp"
#include "inbox/settings.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/attempt_repository.hpp"
#include "mailbox/domain_repository.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/end_notice_repository.hpp"
#include "mailbox/fault_repository.hpp"
#include "mailbox/inbox_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <chrono>

namespace tempinbox::inbox {

// The mailbox, what keeps it in order, and its events.
class core
{
public:
    core(runtime::host& host, const settings& chosen);
    core(const core&) = delete;

    void start();
    // Once nothing changes the mailbox any more: ends background work, then publishes what is left,
    // for `timeout` at most.
    awaitable<void> drain(std::chrono::milliseconds timeout);

    postgres::pool db;
    postgres::clock_watch clock_watch;
    kafka::producer producer;
    outbox::publisher publisher;
    mailbox::account_state_repository account_states;
    mailbox::domain_repository domains;
    mailbox::inbox_repository inboxes;
    mailbox::email_repository emails;
    mailbox::login_repository logins;
    mailbox::fault_repository faults;
    mailbox::attempt_repository attempts;
    mailbox::end_notice_repository end_notices;
    inbox::maintenance maintenance;
    inbox::message_parser message_parser;
    inbox::email_reader email_reader;
    inbox::message_search message_search;
};

} // namespace tempinbox::inbox
