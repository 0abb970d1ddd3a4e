#include "gateway/quota/quota_book.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::gateway {
namespace {

// Of the day before, and only so many accounts: the rest is given up.
constexpr std::chrono::days kept_after_day{1};
constexpr std::size_t most_with_old_debts = 200'000;

std::chrono::sys_days day_of(time_point now)
{
    return std::chrono::floor<std::chrono::days>(now);
}

} // namespace

quota_numbers quota_book::learn(account_id account, quota_numbers numbers)
{
    auto& known = known_[account];
    if (known.limit == numbers.limit && known.reset == numbers.reset)
        numbers.remaining = std::min(numbers.remaining, known.remaining);
    known = numbers;
    if (earliest_end_ == 0)
        earliest_end_ = numbers.reset;
    return numbers;
}

quota_numbers quota_book::last_known(account_id account, std::int64_t limit, time_point now)
{
    forget_ended_days(to_unix_seconds(now));
    const auto entry = known_.find(account);
    return entry == known_.end() ? quota_numbers(limit, limit, next_midnight(now)) : entry->second;
}

std::int64_t quota_book::owed() const
{
    std::int64_t units = 0;
    for (const auto& [account, days] : debts_)
        for (const auto& [day, owed] : days)
            units += owed.told.units + owed.untold;
    return units;
}

quota_numbers quota_book::let_through(account_id account, std::int64_t limit, time_point now)
{
    forget_ended_days(to_unix_seconds(now));
    const auto entry = known_.find(account);
    if (entry == known_.end())
        return quota_numbers(limit, limit, next_midnight(now));
    auto& numbers = entry->second;
    numbers.remaining = std::max<std::int64_t>(0, numbers.remaining - 1);
    return numbers;
}

void quota_book::owe(account_id account, std::int64_t limit, std::int64_t limit_version,
                     std::int64_t units, time_point now)
{
    const auto day = day_of(now);
    forget_old_debts(day);
    auto& owed = debts_[account][day];
    owed.untold += units;
    owed.limit = limit;
    owed.limit_version = limit_version;
}

std::optional<quota_book::told_debt> quota_book::tell_debt(account_id account, time_point now)
{
    const auto entry = debts_.find(account);
    if (entry == debts_.end())
        return std::nullopt;
    const auto today = day_of(now);
    std::erase_if(entry->second,
                  [today](const auto& each) { return each.first + kept_after_day < today; });
    if (entry->second.empty()) {
        debts_.erase(entry);
        return std::nullopt;
    }
    auto& [day, owed] = *entry->second.begin();
    if (owed.told.units == 0)
        owed.told = told_debt{uuid::make_v7(now), std::exchange(owed.untold, 0), day};
    return owed.told;
}

void quota_book::note_stored(account_id account, uuid id)
{
    const auto entry = debts_.find(account);
    if (entry == debts_.end())
        return;
    for (auto& [day, owed] : entry->second)
        if (owed.told.id == id)
            owed.told = told_debt();
    std::erase_if(entry->second, [](const auto& each) {
        return each.second.told.units == 0 && each.second.untold == 0;
    });
    if (entry->second.empty())
        debts_.erase(entry);
}

std::vector<quota_book::debtor> quota_book::debtors(std::size_t most) const
{
    std::vector<debtor> found;
    for (const auto& [account, days] : debts_) {
        if (found.size() == most)
            break;
        const auto& newest = days.rbegin()->second;
        found.emplace_back(account, newest.limit, newest.limit_version);
    }
    return found;
}

// With the first debt of a day; until then nothing is added.
void quota_book::forget_old_debts(std::chrono::sys_days today)
{
    if (today <= newest_debt_)
        return;
    newest_debt_ = today;
    std::size_t kept = 0;
    for (auto entry = debts_.begin(); entry != debts_.end();) {
        std::erase_if(entry->second,
                      [today](const auto& each) { return each.first + kept_after_day < today; });
        const bool is_kept = !entry->second.empty() && ++kept <= most_with_old_debts;
        entry = is_kept ? std::next(entry) : debts_.erase(entry);
    }
}

void quota_book::forget_ended_days(std::int64_t now)
{
    if (earliest_end_ == 0 || now < earliest_end_)
        return;
    std::erase_if(known_, [now](const auto& entry) { return entry.second.reset <= now; });
    earliest_end_ = 0;
    for (const auto& [account, numbers] : known_)
        earliest_end_ = earliest_end_ == 0 ? numbers.reset : std::min(earliest_end_, numbers.reset);
}

} // namespace tempinbox::gateway
