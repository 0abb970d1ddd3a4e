#include "common/testing/await.hpp"
#include "mail-ingest/ingest/in_flight_dedup.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using mail_ingest::in_flight_message;
using mail_ingest::sender;
using steady = std::chrono::steady_clock;

namespace {

struct client
{
    bool has_left = false;
    sender session{[this] { return has_left; }};

    client() = default;
    client(const client&) = delete;
};

struct dedup_world
{
    mail_ingest::in_flight_dedup all{testing::test_host()};
    client first;
    client second;

    std::shared_ptr<in_flight_message> begin(client& from, const std::string& digest = "same")
    {
        return all.begin(digest, from.session);
    }
    // False if it would have to wait.
    bool is_free(const std::shared_ptr<in_flight_message>& mail)
    {
        const bool is_known = testing::await(all.wait_for_earlier(*mail, steady::now()));
        CHECK(all.has_earlier(*mail) == !is_known);
        return is_known;
    }
};

} // namespace

TEST_CASE("a message waits for the same one of a client that has gone", "[mail-ingest]")
{
    dedup_world world;
    auto earlier = world.begin(world.first);
    const auto again = world.begin(world.second);
    const auto other = world.begin(world.second, "other");
    CHECK(world.is_free(again));

    SECTION("and hung up")
    {
        world.first.has_left = true;
    }
    SECTION("and its session ended")
    {
        earlier->lose_sender();
    }
    CHECK_FALSE(world.is_free(again));
    CHECK(world.is_free(other));

    earlier.reset();
    CHECK(world.is_free(again));
}

TEST_CASE("a message that waits for another goes on as soon as that one is decided",
          "[mail-ingest]")
{
    dedup_world world;
    auto earlier = world.begin(world.first);
    const auto again = world.begin(world.second);
    const auto once_more = world.begin(world.second);
    earlier->lose_sender();
    int went_on = 0;
    for (const auto* mail : {again.get(), once_more.get()})
        boost::asio::co_spawn(
            testing::test_host().executor(), world.all.wait_for_earlier(*mail, steady::now() + 20s),
            [&went_on](std::exception_ptr, bool is_known) { went_on += is_known ? 1 : 0; });
    CHECK_FALSE(world.is_free(again)); // the loop ran, and both wait
    CHECK(went_on == 0);

    earlier.reset();
    CHECK(testing::eventually([&] { return went_on == 2; }));
}

TEST_CASE("no two messages wait for each other, and none for one of its own session",
          "[mail-ingest]")
{
    dedup_world world;
    const auto earlier = world.begin(world.first);
    const auto again = world.begin(world.second);
    const auto own = world.begin(world.second);
    world.first.has_left = true;
    world.second.has_left = true;

    CHECK(world.is_free(earlier));
    CHECK_FALSE(world.is_free(again));
    world.first.has_left = false;
    CHECK(world.is_free(own));
}

TEST_CASE("of many sessions with the same message not all are checked for their clients",
          "[mail-ingest]")
{
    dedup_world world;
    int checked = 0;
    const sender crowd{[&] {
        ++checked;
        return false;
    }};
    // Only the oldest message of each session is checked, so these are sessions of their own.
    std::vector<sender> crowds(200, crowd);
    std::vector<std::shared_ptr<in_flight_message>> many;
    for (const auto& one : crowds)
        many.push_back(world.all.begin("same", one));
    const auto again = world.begin(world.second);

    CHECK_FALSE(world.all.has_earlier(*again));
    CHECK(checked == 64);

    many.back()->lose_sender();
    CHECK(world.all.has_earlier(*again));
}

TEST_CASE("a session's repeats of the same message are not scanned", "[mail-ingest]")
{
    constexpr int many = 20'000;
    dedup_world world;
    client third;
    std::vector<std::shared_ptr<in_flight_message>> own;
    for (int i = 0; i < many; ++i)
        own.push_back(world.begin(world.first));
    const auto examined_for = [&](const std::shared_ptr<in_flight_message>& mail) {
        const auto before = world.all.examined();
        world.all.has_earlier(*mail);
        return world.all.examined() - before;
    };

    CHECK(examined_for(own.back()) <= 2);
    const auto again = world.begin(world.second);
    CHECK(examined_for(again) <= 2);

    SECTION("nor when its oldest are decided")
    {
        own.erase(own.begin(), own.begin() + many / 2);
        world.first.has_left = true;
        CHECK(examined_for(again) <= 2);
        CHECK(world.all.has_earlier(*again));
    }
    SECTION("nor what has lost its sender")
    {
        for (const auto& one : own)
            one->lose_sender();
        CHECK(examined_for(again) <= 2);
        CHECK(world.all.has_earlier(*again));
        CHECK(world.all.has_earlier(*world.begin(third)));
        own.clear();
        CHECK_FALSE(world.all.has_earlier(*again));
    }
}
