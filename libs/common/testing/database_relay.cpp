#include "common/testing/database_relay.hpp"

#include "common/postgres/dsn.hpp"

namespace tempinbox::testing {

host_port server_of(scratch_database& scratch)
{
    const auto row = scratch.execute("SELECT host(inet_server_addr()), inet_server_port()")[0];
    return host_port(row[0].as<std::string>("127.0.0.1"), row[1].as<std::uint16_t>());
}

std::string dsn_through(const relay& way, const scratch_database& scratch)
{
    const auto address = way.address();
    return postgres::with_parameter(postgres::with_parameter(scratch.dsn(), "host", address.host),
                                    "port", std::to_string(address.port));
}

} // namespace tempinbox::testing
