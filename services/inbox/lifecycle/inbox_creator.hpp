#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/runtime/host.hpp"
#include "inbox/lifecycle/partition_maintenance.hpp"
#include "mailbox/inbox_repository.hpp"

#include <vector>

namespace tempinbox::inbox {

// Creates inboxes for the RPC handlers and publishes their events. What comes while a transaction
// is under way forms the next, in which accounts take turns; each inbox is created or refused for
// itself. Only while transactions are slow (a locked account) a further one begins.
class inbox_creator
{
public:
    inbox_creator(runtime::host& host, mailbox::inbox_repository& inboxes,
                  outbox::publisher& publisher, partition_maintenance& partitions);

    // As inbox_repository::create; unavailable where that throws.
    awaitable<result<mailbox::inbox>> create(mailbox::new_inbox requested);

private:
    struct account_of
    {
        account_id operator()(const mailbox::new_inbox& requested) const
        {
            return requested.account.account;
        }
    };
    using results = std::vector<result<mailbox::inbox>>;

    awaitable<results> create_all(std::vector<mailbox::new_inbox> requested);

    const clock_source& clock_;
    mailbox::inbox_repository& inboxes_;
    outbox::publisher& publisher_;
    partition_maintenance& partitions_;
    prometheus::Counter& created_;
    prometheus::Histogram& batch_inboxes_;
    async::batcher<mailbox::new_inbox, result<mailbox::inbox>, async::unit_item_weight, account_of>
        batches_;
};

} // namespace tempinbox::inbox
