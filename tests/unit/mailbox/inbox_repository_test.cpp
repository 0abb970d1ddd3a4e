#include "mailbox/inbox_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;
using namespace std::chrono_literals;

TEST_CASE("an inbox lives as long as asked for, from a minute to the plan's longest life",
          "[mailbox]")
{
    plans::plan_limits limits;
    limits.default_ttl = 24h;
    limits.max_ttl = 168h;

    CHECK(choose_ttl(limits, std::nullopt).value() == 24h);
    CHECK(choose_ttl(limits, 60s).value() == 60s);
    CHECK(choose_ttl(limits, 168h).value() == 168h);
    for (const auto requested : {std::chrono::seconds(59), std::chrono::seconds(168h) + 1s,
                                 std::chrono::seconds(0), std::chrono::seconds(-1)}) {
        const auto refused = choose_ttl(limits, requested);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == errc::invalid_argument);
        CHECK(refused.error().message ==
              "ttlSeconds must be an integer from 60 to 604800 (the plan's longest life), not " +
                  std::to_string(requested.count()));
    }
}

TEST_CASE("a default life past the plan's longest is cut to it", "[mailbox]")
{
    plans::plan_limits limits;
    limits.default_ttl = 24h;
    limits.max_ttl = 1h;

    CHECK(choose_ttl(limits, std::nullopt).value() == 1h);
}
