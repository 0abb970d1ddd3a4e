#include "webhook-dispatcher/storage/delivery_id.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

TEST_CASE("a delivery's id is a UUIDv7 of its event's time, different for each webhook",
          "[webhooks]")
{
    const auto event = event_id::make();
    const auto one = webhook_id::make(), other = webhook_id::make();

    const auto delivery = make_delivery_id(event, one);

    CHECK(delivery.version() == 7);
    CHECK((delivery.bytes()[8] & 0xc0) == 0x80);
    CHECK(delivery.time() == event.value().time());
    CHECK(delivery == make_delivery_id(event, one));
    CHECK(delivery != make_delivery_id(event, other));
    CHECK(delivery != event.value());
}

TEST_CASE("with its webhook a delivery's id gives back the event, with another it does not",
          "[webhooks]")
{
    const auto webhook = webhook_id::make();
    for (int i = 0; i < 100; ++i) {
        const auto event = event_id::make();
        CHECK(event_of(make_delivery_id(event, webhook), webhook) == event);
        CHECK(event_of(make_delivery_id(event, webhook), webhook_id::make()) != event);
    }
}
