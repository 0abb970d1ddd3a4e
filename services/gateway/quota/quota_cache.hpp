#pragma once

#include "common/core/ids.hpp"
#include "gateway/quota/rate_limit_fields.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// The last known numbers of each account's day, and the unreported usage: requests that failed open
// and that rate-limit has not stored yet. The numbers of a day that is over are evicted. Unreported
// usage is kept until it is stored, at most 24 h past its day, because a unit counts for its own
// day only.
class quota_cache
{
public:
    // Caches the numbers and returns them as they may be shown: within a day and a limit the
    // remaining number never rises.
    rate_limit_headers learn(account_id account, rate_limit_headers rate_limit);
    // The last known numbers, or `limit` of `limit`; counts nothing.
    rate_limit_headers last_known(account_id account, std::int64_t limit, time_point now);
    // The numbers for a request that fails open: the last known with one less remaining; if none
    // are known, `limit` of `limit` until midnight.
    rate_limit_headers fail_open(account_id account, std::int64_t limit, time_point now);

    void add_unreported(account_id account, std::int64_t limit, std::int64_t limit_version,
                        std::int64_t units, time_point now);
    // Usage reported under one id until it is stored. Usage that is added meanwhile gets another id
    // in a later report.
    struct usage_report
    {
        uuid id;
        std::int64_t units = 0;
        std::chrono::sys_days on_day{};
    };
    // The account's next report, the oldest day first; the same report until it is stored. Absent:
    // there is no unreported usage.
    std::optional<usage_report> next_report(account_id account, time_point now);
    // Rate-limit has stored the report, so it is dropped.
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
