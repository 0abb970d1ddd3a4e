#include "gateway/quota/quota_cache.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::gateway {
namespace {

// Old usage is that of the day before, kept for only so many accounts; the rest is dropped.
constexpr std::chrono::days report_period{1};
constexpr std::size_t max_accounts_with_old_usage = 200'000;

} // namespace

rate_limit_headers quota_cache::learn(account_id account, rate_limit_headers rate_limit)
{
    auto& cached = cached_[account];
    if (cached.limit == rate_limit.limit && cached.reset == rate_limit.reset)
        rate_limit.remaining = std::min(rate_limit.remaining, cached.remaining);
    cached = rate_limit;
    if (earliest_end_ == 0)
        earliest_end_ = rate_limit.reset;
    return rate_limit;
}

rate_limit_headers quota_cache::last_known(account_id account, std::int64_t limit, time_point now)
{
    evict_ended_days(to_unix_seconds(now));
    const auto entry = cached_.find(account);
    return entry == cached_.end() ? rate_limit_headers(limit, limit, next_midnight(now))
                                  : entry->second;
}

std::int64_t quota_cache::unreported() const
{
    std::int64_t units = 0;
    for (const auto& [account, days] : unreported_)
        for (const auto& [day, unreported] : days)
            units += unreported.reported.units + unreported.pending;
    return units;
}

rate_limit_headers quota_cache::fail_open(account_id account, std::int64_t limit, time_point now)
{
    evict_ended_days(to_unix_seconds(now));
    const auto entry = cached_.find(account);
    if (entry == cached_.end())
        return rate_limit_headers(limit, limit, next_midnight(now));
    auto& rate_limit = entry->second;
    rate_limit.remaining = std::max<std::int64_t>(0, rate_limit.remaining - 1);
    return rate_limit;
}

void quota_cache::add_unreported(account_id account, std::int64_t limit, std::int64_t limit_version,
                                 std::int64_t units, time_point now)
{
    const auto day = day_of(now);
    drop_old_usage(day);
    auto& unreported = unreported_[account][day];
    unreported.pending += units;
    unreported.limit = limit;
    unreported.limit_version = limit_version;
}

std::optional<quota_cache::usage_report> quota_cache::next_report(account_id account,
                                                                  time_point now)
{
    const auto entry = unreported_.find(account);
    if (entry == unreported_.end())
        return std::nullopt;
    const auto today = day_of(now);
    std::erase_if(entry->second,
                  [today](const auto& each) { return each.first + report_period < today; });
    if (entry->second.empty()) {
        unreported_.erase(entry);
        return std::nullopt;
    }
    auto& [day, unreported] = *entry->second.begin();
    if (unreported.reported.units == 0)
        unreported.reported =
            usage_report{uuid::make_v7(now), std::exchange(unreported.pending, 0), day};
    return unreported.reported;
}

void quota_cache::note_stored(account_id account, uuid id)
{
    const auto entry = unreported_.find(account);
    if (entry == unreported_.end())
        return;
    for (auto& [day, unreported] : entry->second)
        if (unreported.reported.id == id)
            unreported.reported = usage_report();
    std::erase_if(entry->second, [](const auto& each) {
        return each.second.reported.units == 0 && each.second.pending == 0;
    });
    if (entry->second.empty())
        unreported_.erase(entry);
}

std::vector<quota_cache::unreported_account>
quota_cache::unreported_accounts(std::size_t max_accounts) const
{
    std::vector<unreported_account> found;
    for (const auto& [account, days] : unreported_) {
        if (found.size() == max_accounts)
            break;
        const auto& newest = days.rbegin()->second;
        found.emplace_back(account, newest.limit, newest.limit_version);
    }
    return found;
}

// Runs once a day, at the first unreported request; until then nothing is added.
void quota_cache::drop_old_usage(std::chrono::sys_days today)
{
    if (today <= newest_day_)
        return;
    newest_day_ = today;
    std::size_t kept = 0;
    for (auto entry = unreported_.begin(); entry != unreported_.end();) {
        std::erase_if(entry->second,
                      [today](const auto& each) { return each.first + report_period < today; });
        const bool is_kept = !entry->second.empty() && ++kept <= max_accounts_with_old_usage;
        entry = is_kept ? std::next(entry) : unreported_.erase(entry);
    }
}

void quota_cache::evict_ended_days(std::int64_t now)
{
    if (earliest_end_ == 0 || now < earliest_end_)
        return;
    std::erase_if(cached_, [now](const auto& entry) { return entry.second.reset <= now; });
    earliest_end_ = 0;
    for (const auto& [account, rate_limit] : cached_)
        earliest_end_ =
            earliest_end_ == 0 ? rate_limit.reset : std::min(earliest_end_, rate_limit.reset);
}

} // namespace tempinbox::gateway
