#pragma once

#include "common/async/batcher.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/metrics/registry.hpp"
#include "common/outbox/outbox.hpp"
#include "mailbox/expiry_repository.hpp"

namespace tempinbox::inbox {

// How long the expiry loop waits after a run: not at all after a full batch, else until the next
// inbox is due, and briefly if one is overdue because another transaction holds it. At most a
// second, since another replica may create an inbox that is due earlier.
std::chrono::microseconds delay_after(std::size_t ended,
                                      std::optional<std::chrono::microseconds> until_next_due);

// Ends inboxes that are due or whose account is deleted, and publishes their events. One in each
// process, any number of processes.
class expiry
{
public:
    expiry(runtime::host& host, mailbox::expiry_repository& repository,
           outbox::publisher& publisher);

    void start();
    awaitable<void> stop();

    // Accounts were marked as deleted: ends their inboxes now instead of within a second.
    void note_deleted_accounts() { deleted_task_.wake(); }

    // Ends one inbox now, together with others that are to end while a transaction is under way.
    // Fails with not_found; unavailable if PostgreSQL cannot be reached.
    awaitable<result<void>> end(account_id account, inbox_id id);

    // Ends all live inboxes of the account with all of the tags now; returns how many.
    awaitable<std::int64_t> end_tagged(account_id account, std::vector<std::string> tags);

private:
    struct account_of
    {
        account_id operator()(const mailbox::inbox_end& requested) const
        {
            return requested.account;
        }
    };

    awaitable<std::vector<result<void>>> end_all(std::vector<mailbox::inbox_end> requested);
    awaitable<std::chrono::microseconds> tick();
    awaitable<std::chrono::microseconds> end_of_deleted();

    mailbox::expiry_repository& repository_;
    outbox::publisher& publisher_;
    prometheus::Counter& ended_by_ttl_;
    prometheus::Counter& ended_by_owner_;
    prometheus::Histogram& delay_;
    async::periodic_task task_;
    async::periodic_task deleted_task_;
    async::batcher<mailbox::inbox_end, result<void>, async::unit_item_weight, account_of> ends_;
};

} // namespace tempinbox::inbox
