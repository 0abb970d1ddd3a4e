#pragma once

#include <exception>

namespace tempinbox::postgres {

// What an exception out of libpqxx means for the connection and the caller.
enum class error_kind {
    none,            // an SQL error or the caller's own: passed on as it is
    connection_lost, // also: shutting down, starting up, too many connections, a primary that
                     // became a standby
    in_doubt,        // lost while COMMIT was in progress
    timed_out,       // statement_timeout or lock_timeout
    out_of_resources // disk, memory
};

error_kind classify(const std::exception_ptr& error);

} // namespace tempinbox::postgres
