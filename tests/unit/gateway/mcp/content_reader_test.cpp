#include "gateway/mcp/content_reader.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <latch>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace tempinbox;
using gateway::mcp::content_reader;

namespace {

struct ended_readings
{
    std::vector<std::string> read; // in the order in which they ended
    std::vector<failure> refused;
};

awaitable<void> read_into(content_reader& reader, account_id account, std::stop_token stop,
                          std::function<std::string()> job, ended_readings& ended)
{
    const auto read = co_await reader.read<std::string>(account, std::move(stop), std::move(job));
    if (read)
        ended.read.push_back(*read);
    else
        ended.refused.push_back(read.error());
}

struct arranged_reader
{
    std::latch released{1};
    ended_readings ended;
    content_reader reader;

    explicit arranged_reader(std::size_t max = 100)
        : reader(testing::test_host().executor(), 1, max)
    {}
    ~arranged_reader()
    {
        if (!released.try_wait())
            released.count_down();
    }

    void begin(account_id account, std::function<std::string()> job, std::stop_token stop = {})
    {
        boost::asio::co_spawn(testing::test_host().loop(),
                              read_into(reader, account, std::move(stop), std::move(job), ended),
                              boost::asio::detached);
    }
    void begin(account_id account, const std::string& name)
    {
        begin(account, [name] { return name; });
    }
    // Holds the only thread until `released`.
    void hold(account_id account)
    {
        begin(account, [this] {
            released.wait();
            return std::string("held");
        });
    }
    bool has_ended(std::size_t count)
    {
        return testing::eventually(
            [&] { return ended.read.size() + ended.refused.size() == count; });
    }
};

const auto alice = account_id::make();
const auto bob = account_id::make();

} // namespace

TEST_CASE("an account that reads many mails delays another's by one", "[gateway][mcp]")
{
    arranged_reader arranged;
    arranged.hold(alice);
    for (int i = 0; i < 20; ++i)
        arranged.begin(alice, "alice");
    arranged.begin(bob, "bob");

    arranged.released.count_down();
    REQUIRE(arranged.has_ended(22));

    CHECK(arranged.ended.read[1] == "alice");
    CHECK(arranged.ended.read[2] == "bob");
}

TEST_CASE("one account leaves room for the readings of others, and past all of it is no more",
          "[gateway][mcp]")
{
    arranged_reader arranged(8);
    arranged.hold(alice);
    for (int i = 0; i < 2; ++i)
        arranged.begin(alice, "alice");
    REQUIRE(arranged.has_ended(1));
    for (int i = 0; i < 7; ++i)
        arranged.begin(account_id::make(), "other");
    REQUIRE(arranged.has_ended(2));
    const auto refused = arranged.ended.refused;

    arranged.released.count_down();
    REQUIRE(arranged.has_ended(10));

    REQUIRE(refused.size() == 2);
    CHECK(refused[0].code == errc::unavailable);
    CHECK(refused[1].code == errc::unavailable);
    arranged.begin(alice, "again");
    CHECK(arranged.has_ended(11));
    CHECK(arranged.ended.refused.size() == 2);
}

TEST_CASE("a mail is not read for a client that is gone", "[gateway][mcp]")
{
    arranged_reader arranged;
    std::stop_source gone;
    bool was_read = false;
    arranged.hold(alice);
    arranged.begin(
        alice,
        [&was_read] {
            was_read = true;
            return std::string();
        },
        gone.get_token());
    arranged.begin(bob, "bob");

    gone.request_stop();
    arranged.released.count_down();
    REQUIRE(arranged.has_ended(3));

    CHECK_FALSE(was_read);
}

TEST_CASE("mails are read at a low priority, and the loop keeps its own", "[gateway][mcp]")
{
    arranged_reader arranged;
    const auto nice_here = [] { return std::to_string(getpriority(PRIO_PROCESS, 0)); };
    const auto before = nice_here();

    arranged.begin(alice, nice_here);
    REQUIRE(arranged.has_ended(1));

    CHECK(std::stoi(arranged.ended.read[0]) > std::stoi(before));
    CHECK(nice_here() == before);
}
