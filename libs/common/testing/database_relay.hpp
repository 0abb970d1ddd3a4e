#pragma once

#include "common/testing/relay.hpp"
#include "common/testing/scratch_database.hpp"

#include <string>

namespace tempinbox::testing {

// Where the server of a database listens, for a relay in front of it.
host_port server_of(scratch_database& scratch);

// The DSN of the database by way of the relay.
std::string dsn_through(const relay& way, const scratch_database& scratch);

} // namespace tempinbox::testing
