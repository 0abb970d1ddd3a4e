#include "webhook-dispatcher/delivery/window.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::webhooks;

TEST_CASE("a window of eight: six first attempts and two retries in flight, as many again waiting",
          "[webhooks][window]")
{
    for (const auto& [queue, slots] :
         {std::pair{queue_kind::first, 6U}, std::pair{queue_kind::retry, 2U}}) {
        endpoint_window window;
        for (unsigned i = 0; i < 2 * slots; ++i)
            CHECK(window.reserve(queue));
        CHECK_FALSE(window.reserve(queue));
        for (unsigned i = 0; i < slots; ++i)
            CHECK(window.start(queue));
        CHECK_FALSE(window.start(queue));
    }
}

TEST_CASE("retries do not use the slots of first attempts, nor the other way round",
          "[webhooks][window]")
{
    endpoint_window window;
    while (window.reserve(queue_kind::retry))
        window.start(queue_kind::retry);

    CHECK(window.capacity(queue_kind::first) == 12);
    CHECK(window.reserve(queue_kind::first));
    CHECK(window.start(queue_kind::first));
}

TEST_CASE("finishing and releasing free slots", "[webhooks][window]")
{
    endpoint_window window;
    REQUIRE(window.reserve(queue_kind::first));
    REQUIRE(window.reserve(queue_kind::first));
    REQUIRE(window.start(queue_kind::first));

    window.finish(queue_kind::first);
    CHECK(window.capacity(queue_kind::first) == 11);
    window.release(queue_kind::first);

    CHECK(window.is_idle());
}
