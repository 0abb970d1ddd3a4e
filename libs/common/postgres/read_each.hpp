#pragma once

#include "common/core/errors.hpp"
#include "common/log/log.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/transact_each.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::postgres {

// Runs `step(pqxx::nontransaction&, const std::vector<Item>&)` for items that came together; it
// returns a result<T> for each, in their order. If PostgreSQL refuses the statement or a row of it
// is damaged, each item is read by itself, so that one fails alone: `internal` with the text
// `refusal`, logged with `name_of(item)`. What is not read within max_time_of_each is
// `unavailable`. Throws if the connection is lost.
template <class T, class Item, class Step, class Name>
awaitable<std::vector<result<T>>> read_each(pool& db, std::vector<Item> items, Step step,
                                            std::string refusal, Name name_of)
{
    using results = std::vector<result<T>>;
    const auto give_up = std::chrono::steady_clock::now() + max_time_of_each;
    if (items.size() > 1) {
        try {
            co_return co_await run_autocommit<results>(
                db, [items, step](pqxx::nontransaction& tx) { return step(tx, items); });
        } catch (const dependency_error&) {
            throw;
        } catch (const std::exception& error) {
            // One of them is damaged: each is read by itself.
            log::warning("rows read one by one", {{"error", error.what()}});
        }
    }
    results found;
    found.reserve(items.size());
    for (const auto& item : items) {
        result<T> one = failure(errc::unavailable, refusal + " now; try again");
        try {
            if (std::chrono::steady_clock::now() < give_up) {
                auto alone = co_await run_autocommit<results>(
                    db, [only = std::vector{item}, step](pqxx::nontransaction& tx) {
                        return step(tx, only);
                    });
                one = std::move(alone.front());
            }
        } catch (const dependency_error&) {
            throw;
        } catch (const std::exception& error) {
            // The others are read all the same.
            log::error(refusal, {{"of", name_of(item)}, {"error", error.what()}});
            one = failure(errc::internal, refusal);
        }
        found.push_back(std::move(one));
    }
    co_return found;
}

} // namespace tempinbox::postgres
