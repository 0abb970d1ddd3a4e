#include "gateway/idempotency/stored_key_limit.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto count_interval = 10s;
constexpr std::int64_t counts_per_limit = 100;
constexpr std::size_t max_accounts = 10'000;

} // namespace

awaitable<std::shared_ptr<stored_key_limit::reservation>>
stored_key_limit::reserve(account_id account)
{
    evict_stale();
    auto& usage = by_account_[account];
    auto reserved = std::make_shared<reservation>(usage);
    if (max_keys_ > 0 && is_to_count(usage))
        co_await count(account, usage);
    if (max_keys_ > 0 && usage.counted + usage.since_count() + usage.reserved > max_keys_)
        co_return nullptr;
    co_return reserved;
}

void stored_key_limit::note_dropped(account_id account)
{
    if (const auto usage = by_account_.find(account); usage != by_account_.end())
        --usage->second.stored;
}

std::chrono::seconds stored_key_limit::retry_after(account_id account, time_point now) const
{
    const auto usage = by_account_.find(account);
    if (usage == by_account_.end() || !usage->second.first_end)
        return 1s;
    return std::max<std::chrono::seconds>(
        1s, std::chrono::ceil<std::chrono::seconds>(*usage->second.first_end - now));
}

bool stored_key_limit::is_to_count(const key_usage& usage) const
{
    return !usage.counted_at || steady::now() - *usage.counted_at >= count_interval ||
           usage.since_count() * counts_per_limit >= max_keys_;
}

// A key that is stored during the count may count twice until the next count.
awaitable<void> stored_key_limit::count(account_id account, key_usage& usage)
{
    const auto before = usage.stored;
    const auto found = co_await store_.count(account);
    usage.counted = found.count;
    usage.first_end = found.first_end;
    usage.counted_at = steady::now();
    usage.stored_at_count = before;
}

void stored_key_limit::evict_stale()
{
    if (by_account_.size() < max_accounts)
        return;
    const auto old = steady::now() - count_interval;
    std::erase_if(by_account_, [old](const auto& entry) {
        const auto& usage = entry.second;
        return usage.reserved == 0 && (!usage.counted_at || *usage.counted_at < old);
    });
}

} // namespace tempinbox::gateway
