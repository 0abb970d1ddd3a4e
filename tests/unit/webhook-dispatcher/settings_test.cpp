#include "webhook-dispatcher/settings.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("a call has at most 1 MiB", "[webhook-dispatcher][settings]")
{
    CHECK(webhooks::settings().rpc.body_limit == 1024 * 1024);
}
