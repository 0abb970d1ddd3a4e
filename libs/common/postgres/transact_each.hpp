#pragma once

#include "common/log/log.hpp"
#include "common/postgres/lock_wait.hpp"
#include "common/postgres/pool.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

namespace tempinbox::postgres {

// From the first transaction on; then no further one begins. Who asks waits 5 s, and the last one
// may take a second.
constexpr std::chrono::seconds max_time_of_each{2};
// For a row, of an item that is tried alone once all others were tried.
constexpr std::chrono::milliseconds alone_lock_wait{1'000};

enum class transaction_end { committed, held, refused, lost };

// Runs `step` for the items of `part` (indexes of `items`) in one transaction; if it commits, their
// results are in `results`.
template <class T, class Item, class Step>
awaitable<transaction_end>
transact_part(pool& db, const std::vector<Item>& items, const std::vector<std::size_t>& part,
              Step step, std::chrono::milliseconds lock_wait, std::vector<result<T>>& results)
{
    std::vector<Item> chosen;
    chosen.reserve(part.size());
    for (const auto index : part)
        chosen.push_back(items[index]);
    try {
        auto found =
            co_await db.transact([chosen = std::move(chosen), step, lock_wait](pqxx::work& tx) {
                limit_lock_wait(tx, lock_wait);
                return step(tx, chosen);
            });
        for (std::size_t i = 0; i < part.size(); ++i)
            results[part[i]] = std::move(found[i]);
        co_return transaction_end::committed;
    } catch (const timed_out& error) {
        log::info("changes held up", {{"changes", part.size()}, {"error", error.what()}});
        co_return transaction_end::held;
    } catch (const dependency_error&) {
        // Without a connection nothing of the batch is known; of a part, the others may be.
        if (part.size() == items.size())
            throw;
        co_return transaction_end::lost;
    } catch (const std::exception& error) {
        if (part.size() == 1)
            log::error("change refused by PostgreSQL", {{"error", error.what()}});
        else
            log::info("changes tried apart", {{"changes", part.size()}, {"error", error.what()}});
        co_return transaction_end::refused;
    }
}

// Runs `step(pqxx::work&, const std::vector<Item>&)` in one transaction for items that came
// together; it returns a result<T> for each, in their order. If PostgreSQL refuses the transaction
// or a row is held, each half of them gets a transaction of its own, and so on, so that one fails
// alone (`unavailable` or `internal`) and slow commits are few. Throws if the connection is lost
// while all are tried together.
template <class T, class Item, class Step>
awaitable<std::vector<result<T>>> transact_each(pool& db, std::vector<Item> items, Step step)
{
    using part = std::vector<std::size_t>;
    const auto give_up = std::chrono::steady_clock::now() + max_time_of_each;
    std::vector<result<T>> results;
    results.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        results.emplace_back(
            failure(errc::unavailable, "The change cannot be made now; try again"));
    part whole(items.size());
    std::iota(whole.begin(), whole.end(), std::size_t(0));
    std::deque<part> parts{std::move(whole)}, held;
    while (!parts.empty() || !held.empty()) {
        if (std::chrono::steady_clock::now() >= give_up)
            break;
        const bool is_last_try = parts.empty();
        auto& next = is_last_try ? held : parts;
        const auto tried = std::move(next.front());
        next.pop_front();
        auto lock_wait = tried.size() == items.size() ? together_lock_wait : part_lock_wait;
        if (is_last_try)
            lock_wait = alone_lock_wait;
        const auto end = co_await transact_part<T>(db, items, tried, step, lock_wait, results);
        if (end == transaction_end::committed || end == transaction_end::lost)
            continue;
        if (tried.size() > 1) {
            const auto middle = tried.begin() + static_cast<std::ptrdiff_t>(tried.size() / 2);
            parts.emplace_back(tried.begin(), middle);
            parts.emplace_back(middle, tried.end());
        } else if (end == transaction_end::refused) {
            results[tried.front()] = failure(errc::internal, "The change cannot be stored");
        } else if (!is_last_try) {
            held.push_back(tried);
        }
    }
    co_return results;
}

} // namespace tempinbox::postgres
