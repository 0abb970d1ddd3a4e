#include "common/kafka/client.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

TEST_CASE("why a login failed is the reason while the brokers are away", "[kafka]")
{
    runtime::host host("test", {});
    kafka::broker_watch watch(host);

    watch.on_error(RD_KAFKA_RESP_ERR__AUTHENTICATION, "kafka:9093: invalid credentials");
    watch.on_error(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");

    CHECK_THAT(host.health().json(), Contains("login failed: kafka:9093: invalid credentials") &&
                                         !Contains("brokers are down"));
}

TEST_CASE("brokers that are away without a login keep their own reason", "[kafka]")
{
    runtime::host host("test", {});
    kafka::broker_watch watch(host);

    watch.on_error(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");

    CHECK_THAT(host.health().json(), Contains("1/1 brokers are down") && !Contains("login failed"));
}

TEST_CASE("an issuer's long answer is cut", "[kafka]")
{
    runtime::host host("test", {});
    kafka::broker_watch watch(host);

    watch.on_error(RD_KAFKA_RESP_ERR__AUTHENTICATION, std::string(500'000, 'x').c_str());
    watch.on_error(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "1/1 brokers are down");

    CHECK(host.health().json().size() < 1'000);
}
