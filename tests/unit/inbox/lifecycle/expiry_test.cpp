#include "inbox/lifecycle/expiry.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace std::chrono_literals;

TEST_CASE("how long the expiry loop pauses", "[inbox]")
{
    const auto full = mailbox::expiry_repository::batch_size;

    CHECK(delay_after(full, 1s) == 0us); // there may be more
    CHECK(delay_after(full, std::nullopt) == 0us);
    CHECK(delay_after(0, 300ms) == 300ms); // exactly until the next is due
    CHECK(delay_after(3, 300ms) == 300ms);
    CHECK(delay_after(3, 1ms) == 5ms); // lets a few queue up
    CHECK(delay_after(0, 1h) == 1s);   // other replicas may create inboxes that end sooner
    CHECK(delay_after(0, std::nullopt) == 1s);
    CHECK(delay_after(0, -3s) == 20ms); // overdue, so another transaction holds it
    CHECK(delay_after(0, 0us) == 20ms);
}
