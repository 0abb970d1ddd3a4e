#include "gateway/repeatable/stored_key_limit.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto count_interval = 10s;
constexpr std::int64_t counts_a_limit = 100;
constexpr std::size_t most_accounts = 10'000;

} // namespace

awaitable<std::shared_ptr<stored_key_limit::reservation>>
stored_key_limit::reserve(account_id account)
{
    make_room();
    auto& known = by_account_[account];
    auto reserved = std::make_shared<reservation>(known);
    if (most_ > 0 && is_to_count(known))
        co_await count(account, known);
    if (most_ > 0 && known.counted + known.since_count() + known.reserved > most_)
        co_return nullptr;
    co_return reserved;
}

void stored_key_limit::note_dropped(account_id account)
{
    if (const auto known = by_account_.find(account); known != by_account_.end())
        --known->second.stored;
}

std::chrono::seconds stored_key_limit::retry_after(account_id account, time_point now) const
{
    const auto known = by_account_.find(account);
    if (known == by_account_.end() || !known->second.first_end)
        return 1s;
    return std::max<std::chrono::seconds>(
        1s, std::chrono::ceil<std::chrono::seconds>(*known->second.first_end - now));
}

bool stored_key_limit::is_to_count(const numbers& known) const
{
    return !known.counted_at || steady::now() - *known.counted_at >= count_interval ||
           known.since_count() * counts_a_limit >= most_;
}

// What is stored meanwhile may be counted twice, until the next count.
awaitable<void> stored_key_limit::count(account_id account, numbers& known)
{
    const auto before = known.stored;
    const auto found = co_await store_.count(account);
    known.counted = found.count;
    known.first_end = found.first_end;
    known.counted_at = steady::now();
    known.stored_at_count = before;
}

void stored_key_limit::make_room()
{
    if (by_account_.size() < most_accounts)
        return;
    const auto old = steady::now() - count_interval;
    std::erase_if(by_account_, [old](const auto& entry) {
        const auto& known = entry.second;
        return known.reserved == 0 && (!known.counted_at || *known.counted_at < old);
    });
}

} // namespace tempinbox::gateway
