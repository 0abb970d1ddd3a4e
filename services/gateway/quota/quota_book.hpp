#pragma once

#include "common/core/ids.hpp"
#include "gateway/quota/numbers.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// What this gateway last learned of each account's day, and the requests it let through that nobody
// has stored yet. The numbers of a day that is over are forgotten; what is owed to it is told until
// it is stored, for 24 h at most: a unit is counted for its own day only.
class quota_book
{
public:
    // The numbers as they may be shown: within a day and a limit what remains never rises.
    quota_numbers learn(account_id account, quota_numbers numbers);
    // The last known, or `limit` of `limit`; nothing is counted.
    quota_numbers last_known(account_id account, std::int64_t limit, time_point now);
    // The numbers for a request that is let through: the last known, lowered by it; without any,
    // `limit` of `limit` until midnight.
    quota_numbers let_through(account_id account, std::int64_t limit, time_point now);

    void owe(account_id account, std::int64_t limit, std::int64_t limit_version, std::int64_t units,
             time_point now);
    // What is owed under one id, until it is told to be stored; what comes to be owed meanwhile
    // gets another id after that.
    struct told_debt
    {
        uuid id;
        std::int64_t units = 0;
        std::chrono::sys_days on_day{};
    };
    // What to tell rate-limit of the account, again and again, the oldest day first; absent for
    // nothing.
    std::optional<told_debt> tell_debt(account_id account, time_point now);
    // Rate-limit has stored it: nobody owes it any more.
    void note_stored(account_id account, uuid id);

    struct debtor
    {
        account_id account;
        std::int64_t limit = 0;
        std::int64_t limit_version = 0;
    };
    std::vector<debtor> debtors(std::size_t most) const;
    bool has_debts() const { return !debts_.empty(); }
    std::int64_t owed() const;

private:
    struct debt
    {
        told_debt told;
        std::int64_t untold = 0;
        std::int64_t limit = 0;
        std::int64_t limit_version = 0;
    };
    using debts_by_day = std::map<std::chrono::sys_days, debt>;

    void forget_ended_days(std::int64_t now);
    void forget_old_debts(std::chrono::sys_days today);

    std::unordered_map<account_id, quota_numbers> known_;
    std::unordered_map<account_id, debts_by_day> debts_;
    std::chrono::sys_days newest_debt_{};
    std::int64_t earliest_end_ = 0;
};

} // namespace tempinbox::gateway
