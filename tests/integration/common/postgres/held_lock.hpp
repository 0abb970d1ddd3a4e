#pragma once

#include "common/postgres/pool.hpp"
#include "common/testing/scratch_database.hpp"

#include <optional>
#include <string>

#include <pqxx/pqxx>

namespace tempinbox::testing {

// Another transaction that holds the locks of `statement` until it goes out of scope.
class held_lock
{
public:
    held_lock(const std::string& dsn, const std::string& statement)
        : connection_(dsn),
          transaction_(connection_)
    {
        transaction_.exec(statement);
    }

private:
    pqxx::connection connection_;
    pqxx::work transaction_;
};

// A statement that takes this lock, too, runs until the test releases it, however long that takes.
class held_statement
{
public:
    // For statements: SELECT … FROM it.
    inline static const std::string lock = "pg_advisory_xact_lock(1)";

    explicit held_statement(scratch_database& scratch) : scratch_(scratch)
    {
        held_.emplace(scratch.dsn(), "SELECT " + lock);
    }

    bool is_under_way()
    {
        return scratch_
                   .execute("SELECT count(*) FROM pg_stat_activity WHERE datname = "
                            "current_database() AND wait_event = 'advisory'")[0][0]
                   .as<int>() == 1;
    }
    void release() { held_.reset(); }

private:
    scratch_database& scratch_;
    std::optional<held_lock> held_;
};

// For a pool whose statements are held.
inline void wait_for_locks(postgres::settings& chosen)
{
    chosen.lock_timeout = chosen.statement_timeout = std::chrono::seconds(30);
}

} // namespace tempinbox::testing
