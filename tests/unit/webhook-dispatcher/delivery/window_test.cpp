#include "webhook-dispatcher/delivery/window.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::webhooks;

TEST_CASE("a window of eight: six first tries and two retries in flight, as many again waiting",
          "[webhooks][window]")
{
    for (const auto& [lane, slots] :
         {std::pair{lane_kind::first, 6U}, std::pair{lane_kind::retry, 2U}}) {
        endpoint_window window;
        for (unsigned i = 0; i < 2 * slots; ++i)
            CHECK(window.reserve(lane));
        CHECK_FALSE(window.reserve(lane));
        for (unsigned i = 0; i < slots; ++i)
            CHECK(window.start(lane));
        CHECK_FALSE(window.start(lane));
    }
}

TEST_CASE("retries do not use the places of first tries, nor the other way round",
          "[webhooks][window]")
{
    endpoint_window window;
    while (window.reserve(lane_kind::retry))
        window.start(lane_kind::retry);

    CHECK(window.places(lane_kind::first) == 12);
    CHECK(window.reserve(lane_kind::first));
    CHECK(window.start(lane_kind::first));
}

TEST_CASE("finishing and releasing give places back", "[webhooks][window]")
{
    endpoint_window window;
    REQUIRE(window.reserve(lane_kind::first));
    REQUIRE(window.reserve(lane_kind::first));
    REQUIRE(window.start(lane_kind::first));

    window.finish(lane_kind::first);
    CHECK(window.places(lane_kind::first) == 11);
    window.release(lane_kind::first);

    CHECK(window.is_idle());
}
