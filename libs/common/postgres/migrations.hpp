#pragma once

#include "common/core/embedded_file.hpp"
#include "common/core/errors.hpp"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::postgres {

// One numbered file of a schema's folder schema/: a step of its tables.
struct migration
{
    int version = 0;
    std::string name;
    std::string sql;
};

// One file of a schema's folder functions/: the current text of functions, as statements CREATE OR
// REPLACE.
struct function_file
{
    std::string name; // `settle` for settle.sql
    std::string sql;
};

// What a schema is made of.
struct schema_files
{
    std::string schema;
    std::vector<migration> migrations;
    std::vector<function_file> functions;
};

// What one run of migrate() applied.
struct applied_files
{
    std::vector<int> versions;
    std::vector<std::string> functions;

    bool empty() const { return versions.empty() && functions.empty(); }
};

// The migrations of one folder in order; a gap, a repeat or a bad name is a failure.
result<std::vector<migration>> read_migrations(std::span<const embedded_file> files,
                                               std::string_view folder);

// The function files of one folder, by name.
std::vector<function_file> read_functions(std::span<const embedded_file> files,
                                          std::string_view folder);

// The first line of a numbered file that runs outside a transaction, for statements that cannot run
// in one (CREATE INDEX CONCURRENTLY). Each statement ends with `;` at the end of a line. If one
// fails, those before it stay applied and the file runs again from the start the next time, so each
// must be safe to repeat.
constexpr std::string_view outside_a_transaction = "-- outside a transaction";

// The first line of a numbered file that calls functions of its schema: it runs after all other
// numbered files and after the functions.
constexpr std::string_view after_the_functions = "-- after the functions";

// While a migration waits for a lock, everybody queues behind it. So it gives up soon, lets them
// pass and tries again.
struct lock_retries
{
    std::chrono::milliseconds timeout{2'000};
    std::chrono::milliseconds delay{1'000};
    int tries = 100; // about five minutes
};

// Compares what was applied to a database with the files, and changes nothing. Conflicts: a
// database whose first file was another one (made before the tables of the schema were put into one
// file), which cannot be brought up to date, and a numbered file that was altered.
result<void> check_history(const std::string& dsn, std::span<const schema_files> schemas);

// What a database has of a schema, beside what this program has.
struct schema_state
{
    std::string schema;
    int applied = 0;                            // newest numbered file applied; 0: none
    int newest = 0;                             // newest that this program has
    std::vector<int> missing;                   // numbered files of this program, not applied
    std::vector<std::string> changed_functions; // of this program; none if the database is newer
    std::string conflict;                       // why check_history() refuses it; else empty
};

// Changes nothing. In the order of `schemas`; unavailable if the database cannot be reached.
result<std::vector<schema_state>> compare_schemas(const std::string& dsn,
                                                  std::span<const schema_files> schemas);

// Brings a schema up to date; safe to run concurrently (under an advisory lock) and repeatedly.
// First check_history(); then the numbered files that are missing, each in its own transaction or
// outside any; then the function files whose text differs from the one last applied, all in one
// transaction and in any order. A function file without a schema's name makes its functions in this
// schema. A function with two parameter lists is a failure: a changed signature is a new name.
// Functions are left alone if the database has numbered files that this program does not know.
// Tables: tempinbox_migrations(schema, version, name, checksum, applied_at) and
// tempinbox_functions(schema, name, checksum, applied_at).
result<applied_files> migrate(const std::string& dsn, const schema_files& files,
                              const lock_retries& retries = {});

} // namespace tempinbox::postgres
