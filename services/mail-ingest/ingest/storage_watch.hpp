#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/time.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/postgres/pool.hpp"
#include "mail-ingest/ingest/database_watch.hpp"

namespace tempinbox::mail_ingest {

// Whether mail can be stored at present: its time is PostgreSQL's, and PostgreSQL is there.
struct storage_watch
{
    storage_watch(runtime::host& host, postgres::pool& db, postgres::pool& look_up_db,
                  const clock_source& source)
        : clock(host, db, source),
          database(host, {look_up_db, db})
    {}
    storage_watch(const storage_watch&) = delete;

    void start()
    {
        clock.start();
        database.start();
    }
    awaitable<void> stop()
    {
        co_await database.stop();
        co_await clock.stop();
    }

    postgres::clock_watch clock;
    database_watch database; // while it is away, new sessions are refused
};

} // namespace tempinbox::mail_ingest
