#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "inbox/lifecycle/expiry.hpp"
#include "inbox/lifecycle/partition_maintenance.hpp"
#include "inbox/lifecycle/purge.hpp"
#include "inbox/lifecycle/renewal.hpp"
#include "inbox/lifecycle/retention.hpp"
#include "inbox/settings.hpp"
#include "mailbox/expiry_repository.hpp"
#include "mailbox/partition_repository.hpp"
#include "mailbox/purge_repository.hpp"
#include "mailbox/renewal_repository.hpp"
#include "mailbox/retention_repository.hpp"

namespace tempinbox::inbox {

// What keeps the mailbox in order in the background: ends, renewals, mail that goes, partitions.
struct maintenance
{
    maintenance(runtime::host& host, postgres::pool& db, outbox::publisher& publisher,
                const settings& chosen);
    maintenance(const maintenance&) = delete;

    void start();
    awaitable<void> stop();

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
};

} // namespace tempinbox::inbox
