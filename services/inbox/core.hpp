#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/producer.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "inbox/lifecycle/expiry.hpp"
#include "inbox/lifecycle/partition_maintenance.hpp"
#include "inbox/lifecycle/purge.hpp"
#include "inbox/lifecycle/renewal.hpp"
#include "inbox/lifecycle/retention.hpp"
#include "inbox/reading/email_reader.hpp"
#include "inbox/reading/message_parser.hpp"
#include "inbox/reading/message_search.hpp"
#include "inbox/settings.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/domain_repository.hpp"
#include "mailbox/email_repository.hpp"
#include "mailbox/expiry_repository.hpp"
#include "mailbox/inbox_repository.hpp"
#include "mailbox/partition_repository.hpp"
#include "mailbox/purge_repository.hpp"
#include "mailbox/renewal_repository.hpp"
#include "mailbox/retention_repository.hpp"

#include <chrono>

namespace tempinbox::inbox {

// The mailbox and what keeps it in order: expiry, purge, partitions; and its events.
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
    mailbox::expiry_repository expiry_repository;
    mailbox::partition_repository partition_repository;
    mailbox::purge_repository purge_repository;
    mailbox::retention_repository retention_repository;
    mailbox::renewal_repository renewal_repository;
    partition_maintenance partitions;
    inbox::expiry expiry;
    inbox::purge purge;
    inbox::retention retention;
    inbox::renewal renewal;
    inbox::message_parser message_parser;
    inbox::email_reader email_reader;
    inbox::message_search message_search;
};

} // namespace tempinbox::inbox
