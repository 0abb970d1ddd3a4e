#pragma once

#include "common/core/ids.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// What this gateway last learned of each account's day, and the requests it let through that nobody
// has stored yet. The numbers of a day that is over are forgotten; what is owed to it is told until
// it is stored, for 24 h at most: a unit is counted for its own day only.
class quota_cache
{
public:
    // The numbers as they may be shown: within a day and a limit what remains never rises.
    rate_limit_headers learn(account_id account, rate_limit_headers rate_limit);
    // The last known, or `limit` of `limit`; nothing is counted.
    rate_limit_headers last_known(account_id account, std::int64_t limit, time_point now);
    // The numbers for a request that is let through: the last known, lowered by it; without any,
    // `limit` of `limit` until midnight.
    rate_limit_headers fail_open(account_id account, std::int64_t limit, time_point now);

    void add_unreported(account_id account, std::int64_t limit, std::int64_t limit_version,
                        std::int64_t units, time_point now);
    // What is owed under one id, until it is told to be stored; what comes to be owed meanwhile
    // gets another id after that.
    struct usage_report
    {
        uuid id;
        std::int64_t units = 0;
        std::chrono::sys_days on_day{};
    };
    // What to tell rate-limit of the account, again and again, the oldest day first; absent for
    // nothing.
    std::optional<usage_report> next_report(account_id account, time_point now);
    // Rate-limit has stored it: nobody owes it any more.
    void note_stored(account_id account, uuid id);

    struct unreported_account
    {
        account_id account;
        std::int64_t limit = 0;
        std::int64_t limit_version = 0;
    };
    std::vector<unreported_account> unreported_accounts(std::size_t max_accounts) const;
    bool has_unreported() const { return !unreported_.empty(); }
    std::int64_t unreported() const;

private:
    struct unreported_usage
    {
        usage_report reported;
        std::int64_t pending = 0;
        std::int64_t limit = 0;
        std::int64_t limit_version = 0;
    };
    using usage_by_day = std::map<std::chrono::sys_days, unreported_usage>;

    void evict_ended_days(std::int64_t now);
    void drop_old_usage(std::chrono::sys_days today);

    std::unordered_map<account_id, rate_limit_headers> cached_;
    std::unordered_map<account_id, usage_by_day> unreported_;
    std::chrono::sys_days newest_day_{};
    std::int64_t earliest_end_ = 0;
};

} // namespace tempinbox::gateway
