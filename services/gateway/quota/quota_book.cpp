#include "gateway/quota/quota_book.hpp"

#include <algorithm>
#include <utility>

namespace tempinbox::gateway {

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
    for (const auto& [account, owed] : debts_)
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

void quota_book::owe(account_id account, std::int64_t limit, std::int64_t limit_version, std::int64_t units, time_point now)
{
    auto& owed = debts_[account];
    const auto day_end = next_midnight(now);
    if (owed.day_end != day_end)
        owed = debt();
    owed.untold += units;
    owed.limit = limit;
    owed.limit_version = limit_version;
    owed.day_end = day_end;
}

std::optional<quota_book::told_debt> quota_book::tell_debt(account_id account, time_point now)
{
    const auto entry = debts_.find(account);
    if (entry == debts_.end())
        return std::nullopt;
    auto& owed = entry->second;
    if (owed.day_end != next_midnight(now)) {
        debts_.erase(entry);
        return std::nullopt;
    }
    if (owed.told.units == 0)
        owed.told = told_debt{uuid::make_v7(now), std::exchange(owed.untold, 0)};
    return owed.told;
}

void quota_book::note_stored(account_id account, uuid id)
{
    const auto entry = debts_.find(account);
    if (entry == debts_.end() || entry->second.told.id != id)
        return;
    entry->second.told = told_debt();
    if (entry->second.untold == 0)
        debts_.erase(entry);
}

std::vector<quota_book::debtor> quota_book::debtors(std::size_t most) const
{
    std::vector<debtor> found;
    for (const auto& [account, owed] : debts_) {
        if (found.size() == most)
            break;
        found.emplace_back(account, owed.limit, owed.limit_version);
    }
    return found;
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
