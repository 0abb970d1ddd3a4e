#include "common/async/reset_event.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <memory>

using namespace tempinbox;
using namespace std::chrono_literals;
using async::deadline;
using async::reset_event;

namespace {

// Coroutines that wait for one event, and how their waits ended.
struct waiting
{
    std::unique_ptr<reset_event> event;
    int woken = 0;
    int late = 0;

    explicit waiting(reset_event::mode mode = reset_event::mode::manual)
        : event(std::make_unique<reset_event>(testing::test_host().executor(), mode))
    {}

    void wait(deadline until = deadline::after(20s))
    {
        boost::asio::co_spawn(testing::test_host().loop(), note(until), boost::asio::detached);
        testing::eventually([] { return false; }, 1ms);
    }
    bool ends(int with_success, int with_deadline)
    {
        return testing::eventually([&] { return woken + late == with_success + with_deadline; }) &&
               woken == with_success;
    }

private:
    awaitable<void> note(deadline until)
    {
        const bool is_set = co_await event->wait_until(until);
        ++(is_set ? woken : late);
    }
};

} // namespace

TEST_CASE("a manual event wakes all who wait, and stays set until it is reset", "[async]")
{
    waiting all;
    all.wait();
    all.wait(deadline::after(15s));

    all.event->set();
    CHECK(all.ends(2, 0));
    CHECK(all.event->is_set());
    all.wait();
    CHECK(all.ends(3, 0));

    all.event->reset();
    CHECK_FALSE(all.event->is_set());
    all.wait(deadline::after(1ms));
    CHECK(all.ends(3, 1));
}

TEST_CASE("each waiter of an event has its own deadline", "[async]")
{
    waiting all;
    all.wait();
    all.wait(deadline::after(1ms));
    CHECK(all.ends(0, 1));

    all.event->set();
    CHECK(all.ends(1, 1));
}

TEST_CASE("an automatic event wakes one of those who wait", "[async]")
{
    waiting all(reset_event::mode::automatic);
    all.wait();
    all.wait();

    all.event->set();
    CHECK(all.ends(1, 0));
    CHECK_FALSE(all.event->is_set());
    all.event->set();
    CHECK(all.ends(2, 0));
}

TEST_CASE("an automatic event that nobody waits for lets one go on, however often it was set",
          "[async]")
{
    waiting all(reset_event::mode::automatic);
    all.event->set();
    all.event->set();

    all.wait(deadline::after(1ms));
    all.wait(deadline::after(1ms));
    CHECK(all.ends(1, 1));
}

TEST_CASE("a waiter that left at its deadline takes nobody's turn", "[async]")
{
    waiting all(reset_event::mode::automatic);
    all.wait(deadline::after(1ms));
    REQUIRE(all.ends(0, 1));
    all.wait();

    all.event->set();
    CHECK(all.ends(1, 1));
}

TEST_CASE("the end of an event ends its waits", "[async]")
{
    waiting all;
    all.wait();
    all.wait();

    all.event.reset();
    CHECK(all.ends(0, 2));
}

TEST_CASE("a deadline knows what remains, and never less than nothing", "[async]")
{
    const auto past = deadline(deadline::clock::now() - 1s);
    CHECK(past.has_passed());
    CHECK(past.remaining() == deadline::clock::duration::zero());

    const auto far = deadline::after(1h);
    CHECK_FALSE(far.has_passed());
    CHECK(far.remaining() > 59min);
    CHECK(far.remaining() <= 1h);
    CHECK(deadline::after(deadline::clock::duration::max()) == deadline::never());
    CHECK(past < far);
}
