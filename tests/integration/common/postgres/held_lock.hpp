#pragma once

#include "common/testing/scratch_database.hpp"

#include <string>

namespace tempinbox::testing {

// A lock of the database that a test holds: a statement that takes it, too, runs until the test
// releases it, however long that takes.
class held_lock
{
public:
    // For statements: SELECT … FROM it.
    inline static const std::string taken = "pg_advisory_xact_lock(1)";

    explicit held_lock(scratch_database& scratch)
        : scratch_(scratch),
          connection_(scratch.dsn()),
          holder_(connection_)
    {
        holder_.exec("SELECT " + taken);
    }
    held_lock(const held_lock&) = delete;

    bool is_waited_for()
    {
        return scratch_
                   .execute("SELECT count(*) FROM pg_stat_activity WHERE datname = "
                            "current_database() AND wait_event = 'advisory'")[0][0]
                   .as<int>() == 1;
    }
    void release() { holder_.abort(); }

private:
    scratch_database& scratch_;
    pqxx::connection connection_;
    pqxx::work holder_;
};

// For a pool whose statements wait for the lock.
inline void wait_for_locks(postgres::settings& chosen)
{
    chosen.lock_timeout = chosen.statement_timeout = std::chrono::seconds(30);
}

} // namespace tempinbox::testing
