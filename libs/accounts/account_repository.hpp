#pragma once

#include "accounts/account.hpp"
#include "accounts/plan.hpp"
#include "accounts/state_events.hpp"
#include "common/core/awaitable.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::accounts {

// Accounts and the plans they are on, in PostgreSQL. A deleted account is not found. Each change
// stamps the accounts it affects with the next version of accounts.changes and writes their
// account.state rows in the same transaction. Refusals are values; an unreachable PostgreSQL
// throws.
class account_repository
{
public:
    static constexpr int batch_size = 1'000;

    account_repository(postgres::pool& db, state_publisher publisher);

    // conflict for an email address in use, invalid_argument for a bad one or an unknown plan. A
    // 7-Day Pass starts now. Nobody can sign in to an account without a password.
    awaitable<result<account>> create(account_id id, std::string email, std::string plan,
                                      std::string password_hash = {});
    awaitable<result<account>> find(account_id id);
    awaitable<result<account>> find_by_email(std::string email);
    // Newest first; only those older than `before`, if given.
    awaitable<std::vector<account>> list(std::size_t limit, std::optional<account_id> before);
    // Without `ends_at` a 7-Day Pass ends after seven days, and other plans do not end.
    awaitable<result<account>> set_plan(account_id id, std::string plan,
                                        std::optional<time_point> ends_at);
    // Revokes the account's keys, ends its sessions, deletes its password and email address, and
    // publishes its tombstone.
    awaitable<result<account>> remove(account_id id);
    // Purges what accounts deleted over a day ago left behind: up to batch_size rows of each kind.
    // Returns the largest of these row counts. Publishes an account's tombstone again with its last
    // row.
    awaitable<int> purge();

    // From the smallest plan to the largest.
    awaitable<std::vector<plan>> list_plans();
    // Affects the accounts on the plan and, for the free plan, also those whose plan ends.
    // not_found for an unknown plan, invalid_argument for numbers that contradict each other. The
    // names must be those of limits.
    awaitable<result<plan>> change_plan(std::string name, plan_change requested);

private:
    postgres::pool& db_;
    state_publisher publisher_;
};

} // namespace tempinbox::accounts
