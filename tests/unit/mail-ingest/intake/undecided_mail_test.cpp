#include "common/testing/await.hpp"
#include "mail-ingest/intake/undecided_mail.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using mail_ingest::sender;
using mail_ingest::undecided_mail;
using steady = std::chrono::steady_clock;

namespace {

struct client
{
    bool has_left = false;
    sender session{[this] { return has_left; }};

    client() = default;
    client(const client&) = delete;
};

struct undecided_world
{
    mail_ingest::undecided_mails all{testing::test_host()};
    client first;
    client second;

    std::shared_ptr<undecided_mail> begin(client& from, const std::string& digest = "same")
    {
        return all.begin(digest, from.session);
    }
    // False when it would have to wait.
    bool is_free(const std::shared_ptr<undecided_mail>& mail)
    {
        const bool is_known = testing::await(all.wait_for_earlier(*mail, steady::now()));
        CHECK(all.has_earlier(*mail) == !is_known);
        return is_known;
    }
};

} // namespace

TEST_CASE("a message waits for the same one of a client that has gone", "[mail-ingest]")
{
    undecided_world world;
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

TEST_CASE("who waits for a message goes on as soon as it is decided", "[mail-ingest]")
{
    undecided_world world;
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
    undecided_world world;
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

TEST_CASE(
    "of many sessions with the same message not all are asked whether their clients are there",
    "[mail-ingest]")
{
    undecided_world world;
    int asked = 0;
    const sender crowd{[&] {
        ++asked;
        return false;
    }};
    // Of each the oldest is asked for: these are sessions of their own.
    std::vector<sender> crowds(200, crowd);
    std::vector<std::shared_ptr<undecided_mail>> many;
    for (const auto& one : crowds)
        many.push_back(world.all.begin("same", one));
    const auto again = world.begin(world.second);

    CHECK_FALSE(world.all.has_earlier(*again));
    CHECK(asked == 64);

    many.back()->lose_sender();
    CHECK(world.all.has_earlier(*again));
}

TEST_CASE("what a session has of the same message is not looked through", "[mail-ingest]")
{
    constexpr int many = 20'000;
    undecided_world world;
    client third;
    std::vector<std::shared_ptr<undecided_mail>> own;
    for (int i = 0; i < many; ++i)
        own.push_back(world.begin(world.first));
    const auto looks_of = [&](const std::shared_ptr<undecided_mail>& mail) {
        const auto before = world.all.looked_at();
        world.all.has_earlier(*mail);
        return world.all.looked_at() - before;
    };

    CHECK(looks_of(own.back()) <= 2);
    const auto again = world.begin(world.second);
    CHECK(looks_of(again) <= 2);

    SECTION("nor when its oldest are decided")
    {
        own.erase(own.begin(), own.begin() + many / 2);
        world.first.has_left = true;
        CHECK(looks_of(again) <= 2);
        CHECK(world.all.has_earlier(*again));
    }
    SECTION("nor what has lost its sender")
    {
        for (const auto& one : own)
            one->lose_sender();
        CHECK(looks_of(again) <= 2);
        CHECK(world.all.has_earlier(*again));
        CHECK(world.all.has_earlier(*world.begin(third)));
        own.clear();
        CHECK_FALSE(world.all.has_earlier(*again));
    }
}
