#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tempinbox::accounts {

// Publishes a change to the other services. With `publish`, this process owns the rows and gets
// them after the commit; without, they are written with an expired lease, so that the next sweep of
// any gateway publishes them.
struct state_publisher
{
    std::string owner;
    std::function<void(std::vector<outbox::row>)> publish;
};

// What a committed transaction returns, and the account.state rows it wrote.
template <class T>
struct change
{
    T value;
    std::vector<outbox::row> rows;
};

// The next version of accounts.changes. It locks that row until the transaction ends, so versions
// are committed in order, and whatever is counted after it stays true until the commit. Call it
// first in every transaction that changes accounts, plans or keys.
std::int64_t next_version(pqxx::work& tx);

// Writes the account.state outbox rows of changed accounts in the change's transaction.
std::vector<outbox::row> write_state_events(pqxx::work& tx, const state_publisher& publisher,
                                            const std::vector<plans::account_state>& changed);

// Deletes published rows of accounts.outbox that `owner` still holds, for outbox::publisher. Of an
// account that changed again before its row was deleted, the record of the older state may stand
// behind that of the newer one, published by another process, and a compacted topic keeps the last
// record of a key. So it returns events of the states as they are now, to be published after both
// (docs/decisions/0019-states-of-inboxes-beside-their-events.md). A row that another process has
// claimed stays: that one publishes it once more, and deletes it after that. The function throws as
// pqxx does.
outbox::row_remover remover_of_published(std::string owner);

// Waits for the transaction, then publishes its rows.
template <class T>
awaitable<result<T>> publish_after(awaitable<result<change<T>>> transaction,
                                   const state_publisher& publisher)
{
    result<change<T>> outcome = co_await std::move(transaction);
    if (!outcome)
        co_return outcome.error();
    if (publisher.publish)
        publisher.publish(std::move(outcome->rows));
    co_return std::move(outcome->value);
}

} // namespace tempinbox::accounts
