#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tempinbox::postgres {

// Runs one statement by itself, in one round trip: BEGIN and COMMIT would be two more.
template <class Answer>
awaitable<Answer> run_alone(pool& db, std::function<Answer(pqxx::nontransaction&)> work)
{
    const auto answer = std::make_shared<std::optional<Answer>>();
    std::function<void(pqxx::connection_base&)> job =
        [answer, work = std::move(work)](pqxx::connection_base& connection) {
            pqxx::nontransaction tx(connection);
            answer->emplace(work(tx));
        };
    co_await db.run(std::move(job));
    co_return std::move(**answer);
}

} // namespace tempinbox::postgres
