#pragma once

#include <pqxx/pqxx>

#include <chrono>
#include <string>

namespace tempinbox::postgres {

// How long a transaction for several callers waits for a row: while it waits it holds the rows of
// the others.
constexpr std::chrono::milliseconds together_lock_wait{300};

// From here to the transaction's end a row that is held longer fails it with timed_out.
inline void limit_lock_wait(pqxx::work& tx, std::chrono::milliseconds longest)
{
    tx.exec0("SET LOCAL lock_timeout = " + std::to_string(longest.count()));
}

} // namespace tempinbox::postgres
