#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/time.hpp"
#include "common/postgres/pool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a restore of the database to an earlier moment needs of the server, whoever owns the schemas
// (docs/operations/backup.md).
namespace tempinbox::postgres {

// The server as a restore left it.
struct restored_server
{
    // System identifier and timeline: a restore to a moment begins a timeline, and a dump is loaded
    // into another system.
    std::string restore_id;
    std::int64_t timeline = 1;
    // The commit of the last transaction that recovery replayed; known until the server's next
    // start.
    std::optional<time_point> recovered_to;
    std::vector<std::string> sessions; // application names of the services that are connected
};
awaitable<restored_server> read_restored_server(pool& db, std::vector<std::string> services);

// A change of many rows in batches. Its progress is a row of <schema>.restore_steps, written in the
// transaction of each batch, so that a run that was interrupted goes on where it stopped, and one
// that is repeated changes nothing.
struct step_progress
{
    std::string position; // the rows up to it are done
    std::int64_t rows = 0;
    bool is_finished = false;
};

// Locks the step's row until the transaction ends; makes it if it is missing.
step_progress lock_step(pqxx::work& tx, const std::string& schema, const std::string& restore_id,
                        const std::string& step);
void save_step(pqxx::work& tx, const std::string& schema, const std::string& restore_id,
               const std::string& step, const step_progress& progress);

} // namespace tempinbox::postgres
