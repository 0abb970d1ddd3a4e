#pragma once

#include "common/log/log.hpp"
#include "common/postgres/lock_wait.hpp"
#include "common/postgres/pool.hpp"

#include <array>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace tempinbox::postgres {

// Of the first transaction on; then no further item is tried: who asks waits no longer.
constexpr std::chrono::seconds max_time_of_each{3};
// How long items that are tried alone wait for a row that is held: first each of them shortly, so
// that a few held ones do not use up the time of the others, then those once more.
constexpr std::array alone_lock_waits{std::chrono::milliseconds(50),
                                      std::chrono::milliseconds(1'000)};

// Runs `step` for one item alone. What PostgreSQL refuses is that item's failure; nullopt if a row
// was held for too long.
template <class T, class Item, class Step>
awaitable<std::optional<result<T>>>
transact_alone(pool& db, Item item, Step step, std::chrono::milliseconds lock_wait, bool is_only)
{
    try {
        auto answers = co_await db.transact(
            [items = std::vector{std::move(item)}, step, lock_wait](pqxx::work& tx) {
                limit_lock_wait(tx, lock_wait);
                return step(tx, items);
            });
        co_return std::move(answers.front());
    } catch (const timed_out&) {
        // Tried again later, if there is time.
        co_return std::nullopt;
    } catch (const dependency_error&) {
        if (is_only)
            throw;
        // The other items are tried all the same.
        co_return failure(errc::unavailable, "The change cannot be made now; try again");
    } catch (const std::exception& error) {
        log::error("change refused by PostgreSQL", {{"error", error.what()}});
        co_return failure(errc::internal, "The change cannot be stored");
    }
}

// Runs `step(pqxx::work&, const std::vector<Item>&)` in one transaction for items that came
// together; it returns a result<T> for each, in their order. If PostgreSQL refuses the transaction
// or a row is held, each item gets a transaction of its own, so that one fails alone:
// `unavailable` or `internal`. Throws if the connection is lost while they are tried together, or
// while a single one is.
template <class T, class Item, class Step>
awaitable<std::vector<result<T>>> transact_each(pool& db, std::vector<Item> items, Step step)
{
    const auto give_up = std::chrono::steady_clock::now() + max_time_of_each;
    std::vector<result<T>> results;
    if (items.size() > 1) {
        try {
            results = co_await db.transact([items, step](pqxx::work& tx) {
                limit_lock_wait(tx, together_lock_wait);
                return step(tx, items);
            });
            co_return results;
        } catch (const timed_out& error) {
            // One item's row is held: the others need not wait for it.
            log::info("changes tried one by one", {{"error", error.what()}});
        } catch (const dependency_error&) {
            throw;
        } catch (const std::exception& error) {
            log::info("changes tried one by one", {{"error", error.what()}});
        }
    }
    results.clear();
    for (std::size_t i = 0; i < items.size(); ++i)
        results.emplace_back(
            failure(errc::unavailable, "The change cannot be made now; try again"));
    std::vector<std::size_t> left(items.size());
    std::iota(left.begin(), left.end(), std::size_t(0));
    for (const auto lock_wait : alone_lock_waits) {
        std::vector<std::size_t> held;
        for (const auto index : left) {
            if (std::chrono::steady_clock::now() >= give_up)
                co_return results;
            auto answer =
                co_await transact_alone<T>(db, items[index], step, lock_wait, items.size() == 1);
            if (answer)
                results[index] = std::move(*answer);
            else
                held.push_back(index);
        }
        left = std::move(held);
    }
    co_return results;
}

} // namespace tempinbox::postgres
