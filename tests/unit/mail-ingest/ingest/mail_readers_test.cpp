#include "mail-ingest/ingest/mail_readers.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <latch>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace tempinbox;
using mail_ingest::mail_readers;

namespace {

struct ended_messages
{
    std::vector<std::string> read; // in the order in which they ended
    std::vector<std::string> refused;
};

awaitable<void> read_into(mail_readers& readers, std::string client, std::function<void()> job,
                          ended_messages& ended, async::deadline until)
{
    const bool is_read = co_await readers.run(client, std::move(job), until);
    (is_read ? ended.read : ended.refused).push_back(std::move(client));
}

struct arranged_readers
{
    std::latch released{1};
    ended_messages ended;
    mail_readers readers;

    explicit arranged_readers(std::size_t threads, std::size_t max_messages = 4'000)
        : readers(testing::test_host().executor(), threads, max_messages)
    {}
    ~arranged_readers()
    {
        if (!released.try_wait())
            released.count_down();
    }

    void begin(
        const std::string& client, std::function<void()> job = [] {},
        async::deadline until = async::deadline::never())
    {
        boost::asio::co_spawn(testing::test_host().loop(),
                              read_into(readers, client, std::move(job), ended, until),
                              boost::asio::detached);
    }
    // A message that takes until `released`.
    void begin_hostile(const std::string& client)
    {
        begin(client, [this] { released.wait(); });
    }
    bool has_ended(std::size_t count)
    {
        return testing::eventually(
            [&] { return ended.read.size() + ended.refused.size() == count; });
    }
};

} // namespace

TEST_CASE("a hundred messages of one address hold no thread that another's needs", "[ingest]")
{
    arranged_readers arranged(2);
    for (int i = 0; i < 100; ++i)
        arranged.begin_hostile("192.0.2.1");

    arranged.begin("192.0.2.2");
    arranged.begin("192.0.2.2");

    REQUIRE(arranged.has_ended(2));
    CHECK(arranged.ended.read == std::vector<std::string>{"192.0.2.2", "192.0.2.2"});
    arranged.released.count_down();
    CHECK(arranged.has_ended(102));
}

TEST_CASE("client addresses take turns, and messages of one keep their order", "[ingest]")
{
    arranged_readers arranged(1);
    std::vector<std::string> order;
    arranged.begin_hostile("192.0.2.1");
    const auto begin = [&](const std::string& client, const std::string& name) {
        arranged.begin(client, [&order, name] { order.push_back(name); });
    };
    for (int i = 1; i <= 3; ++i)
        begin("192.0.2.1", "a" + std::to_string(i));
    for (int i = 1; i <= 2; ++i)
        begin("192.0.2.2", "b" + std::to_string(i));
    begin("192.0.2.3", "c1");

    arranged.released.count_down();
    REQUIRE(arranged.has_ended(7));

    CHECK(order == std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"});
}

TEST_CASE("addresses of one /64, and an IPv4 address mapped or not, have one turn", "[ingest]")
{
    arranged_readers arranged(1);
    std::vector<std::string> order;
    arranged.begin_hostile("2001:db8::1");
    for (const std::string client : {"2001:db8::2", "2001:db8::3", "2001:db8:0:1::4", "192.0.2.1",
                                     "::ffff:192.0.2.1", "unknown"})
        arranged.begin(client, [&order, client] { order.push_back(client); });

    arranged.released.count_down();
    REQUIRE(arranged.has_ended(7));

    CHECK(order == std::vector<std::string>{"2001:db8::2", "2001:db8:0:1::4", "192.0.2.1",
                                            "unknown", "2001:db8::3", "::ffff:192.0.2.1"});
}

TEST_CASE("messages that wait to be read are bounded, of one address to a quarter", "[ingest]")
{
    arranged_readers arranged(1, 8);
    for (int i = 0; i < 3; ++i)
        arranged.begin_hostile("192.0.2.1");
    REQUIRE(arranged.has_ended(1));
    CHECK_FALSE(arranged.readers.has_room("::ffff:192.0.2.1"));
    CHECK(arranged.readers.has_room("192.0.2.2"));
    for (int i = 2; i <= 8; ++i)
        arranged.begin("192.0.2." + std::to_string(i));
    REQUIRE(arranged.has_ended(2));
    CHECK(arranged.ended.refused == std::vector<std::string>{"192.0.2.1", "192.0.2.8"});
    CHECK_FALSE(arranged.readers.has_room("192.0.2.9"));

    arranged.released.count_down();
    REQUIRE(arranged.has_ended(10));

    CHECK(arranged.ended.read.size() == 8);
    CHECK(arranged.readers.has_room("192.0.2.1"));
}

TEST_CASE("a message whose turn comes too late is not read", "[ingest]")
{
    using namespace std::chrono_literals;
    arranged_readers arranged(1);
    bool is_read = false;
    arranged.begin_hostile("192.0.2.1");
    arranged.begin("192.0.2.2", [&is_read] { is_read = true; }, async::deadline::after(1ms));
    REQUIRE(arranged.has_ended(1));

    arranged.released.count_down();
    REQUIRE(arranged.has_ended(2));

    CHECK_FALSE(is_read);
    CHECK(arranged.ended.refused == std::vector<std::string>{"192.0.2.2"});
}

TEST_CASE("messages are read at a low priority, and the loop keeps its own", "[ingest]")
{
    arranged_readers arranged(1);
    const auto nice_here = [] { return getpriority(PRIO_PROCESS, 0); };
    const auto before = nice_here();
    int there = before;

    arranged.begin("192.0.2.1", [&there, nice_here] { there = nice_here(); });
    REQUIRE(arranged.has_ended(1));

    CHECK(there > before);
    CHECK(nice_here() == before);
}

TEST_CASE("small messages of an address that sent a slow one are not read on the loop", "[ingest]")
{
    using namespace std::chrono_literals;
    mail_readers readers(testing::test_host().executor(), 2, 100);
    const auto now = std::chrono::steady_clock::now();
    CHECK(readers.may_read_on_loop("192.0.2.1", 8'192, now));
    CHECK_FALSE(readers.may_read_on_loop("192.0.2.1", 8'193, now));

    readers.note("192.0.2.1", 4'096, 100us, now);
    readers.note("192.0.2.1", 500'000, 8ms, now);
    CHECK(readers.may_read_on_loop("192.0.2.1", 4'096, now));

    readers.note("192.0.2.1", 7'500, 1ms, now);
    CHECK_FALSE(readers.may_read_on_loop("::ffff:192.0.2.1", 4'096, now + 29s));
    CHECK(readers.may_read_on_loop("192.0.2.2", 4'096, now));
    CHECK(readers.may_read_on_loop("192.0.2.1", 4'096, now + 30s));
}

TEST_CASE("the slow addresses that are remembered are bounded", "[ingest]")
{
    using namespace std::chrono_literals;
    mail_readers readers(testing::test_host().executor(), 2, 100);
    const auto now = std::chrono::steady_clock::now();
    for (int i = 0; i < 20'000; ++i)
        readers.note("192.0." + std::to_string(i / 256) + "." + std::to_string(i % 256), 100, 1ms,
                     now);

    CHECK_FALSE(readers.may_read_on_loop("198.51.100.1", 100, now));
    readers.note("198.51.100.1", 100, 50us, now + 30s);
    CHECK(readers.may_read_on_loop("198.51.100.1", 100, now + 30s));
}
