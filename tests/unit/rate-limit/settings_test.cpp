#include "rate-limit/settings.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

TEST_CASE("the name of the other replicas' certificates needs a certificate", "[rate-limit]")
{
    config::reader reader({{"database", "postgresql://localhost/t"},
                           {"rpc-token-file", "/dev/null"},
                           {"rpc-tls-name", "rate-limit.test"}});

    rate_limit::read_settings(reader);

    REQUIRE(reader.problems().size() == 1);
    CHECK_THAT(reader.problems()[0],
               Contains("rpc-tls-name") && Contains("rpc-tls-certificate-file"));
}
