#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tempinbox::postgres {

// Runs one statement by itself, in one round trip: BEGIN and COMMIT would be two more.
template <class Result>
awaitable<Result> run_autocommit(pool& db, std::function<Result(pqxx::nontransaction&)> work)
{
    const auto result = std::make_shared<std::optional<Result>>();
    std::function<void(pqxx::connection&)> job =
        [result, work = std::move(work)](pqxx::connection& connection) {
            pqxx::nontransaction tx(connection);
            result->emplace(work(tx));
        };
    co_await db.run(std::move(job));
    co_return std::move(**result);
}

} // namespace tempinbox::postgres
