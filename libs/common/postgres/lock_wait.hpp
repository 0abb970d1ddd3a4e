#pragma once

#include <pqxx/pqxx>

#include <chrono>
#include <string>

namespace tempinbox::postgres {

// How long a transaction for several callers waits for a row: while it waits it holds the rows of
// the others.
constexpr std::chrono::milliseconds together_lock_wait{300};
// How long parts of it wait, once it was held up: shortly, so that a few rows that are held do not
// use up the time of the others.
constexpr std::chrono::milliseconds part_lock_wait{10};

// From here to the transaction's end a row that is held longer fails it with timed_out.
inline void limit_lock_wait(pqxx::work& tx, std::chrono::milliseconds longest)
{
    tx.exec0("SET LOCAL lock_timeout = " + std::to_string(longest.count()));
}

} // namespace tempinbox::postgres
