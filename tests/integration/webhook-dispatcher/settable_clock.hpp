#pragma once

#include "common/testing/scratch_database.hpp"

#include <chrono>
#include <string>

namespace tempinbox::testing {

// Lets days pass at once: in the database, whose clock alone says when a delivery is due, now() and
// clock_timestamp() are replaced by functions that are found before PostgreSQL's own and that tests
// move. Connect after it was made. Deadlines and leases held in memory still run in real time.
class settable_clock
{
public:
    explicit settable_clock(scratch_database& scratch) : scratch_(scratch)
    {
        const auto database = scratch.execute("SELECT current_database()")[0][0].as<std::string>();
        scratch.execute(R"(
            CREATE SCHEMA clock;
            CREATE TABLE clock.moved (by interval NOT NULL);
            INSERT INTO clock.moved VALUES ('0 s');
            CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE
                AS 'SELECT pg_catalog.now() + (SELECT by FROM clock.moved)';
            CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
                AS 'SELECT pg_catalog.clock_timestamp() + (SELECT by FROM clock.moved)';
        )");
        scratch.execute("ALTER DATABASE \"" + database +
                        "\" SET search_path = clock, pg_catalog, public");
    }
    settable_clock(const settable_clock&) = delete;

    void advance(std::chrono::milliseconds step)
    {
        scratch_.execute("UPDATE clock.moved SET by = by + interval '" +
                         std::to_string(step.count()) + " milliseconds'");
    }

private:
    scratch_database& scratch_;
};

} // namespace tempinbox::testing
