#pragma once

#include "common/core/embedded_file.hpp"
#include "common/core/errors.hpp"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::postgres {

// One numbered file of services/<service>/migrations.
struct migration
{
    int version = 0;
    std::string name;
    std::string sql;
};

// The migrations of one folder in order; a gap, a repeat or a bad name is a failure.
result<std::vector<migration>> read_migrations(std::span<const embedded_file> files,
                                               std::string_view folder);

// The first line of a file that runs outside a transaction, for statements that cannot run in one
// (CREATE INDEX CONCURRENTLY). Each statement ends with `;` at the end of a line. If one fails,
// those before it stay applied and the file runs again from the start the next time, so each must
// be safe to repeat.
constexpr std::string_view outside_a_transaction = "-- outside a transaction";

// While a migration waits for a lock, everybody queues behind it. So it gives up soon, lets them
// pass and tries again.
struct lock_retries
{
    std::chrono::milliseconds timeout{2'000};
    std::chrono::milliseconds delay{1'000};
    int tries = 100; // about five minutes
};

// Migrates `schema` to the newest version, each migration in its own transaction or outside any,
// all under an advisory lock; safe to run concurrently and repeatedly. Returns the versions
// applied. The table is tempinbox_migrations(schema, version, name, checksum, applied_at); an
// altered old file is a failure.
result<std::vector<int>> migrate(const std::string& dsn, const std::string& schema,
                                 const std::vector<migration>& migrations,
                                 const lock_retries& retries = {});

} // namespace tempinbox::postgres
