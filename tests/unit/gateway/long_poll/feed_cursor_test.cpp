#include "gateway/long_poll/feed_cursor.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <set>

using namespace tempinbox;
using gateway::feed_position;
using gateway::make_feed_cursor;
using gateway::read_feed_cursor;

TEST_CASE("a cursor of a feed says the at again, in 64 characters at most", "[gateway][feed]")
{
    const auto account = account_id::make();
    for (const auto epoch : {0, 1, 127, 128, std::numeric_limits<int>::max()})
        for (const std::int64_t position :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{127}, std::int64_t{128},
              std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
            const feed_position at{epoch, position};
            const auto text = make_feed_cursor(account, at);
            CHECK(text.size() <= gateway::max_feed_cursor_length);
            CHECK(read_feed_cursor(account, text).value() == at);
        }
}

TEST_CASE("a cursor of a feed is of one account, and each change of it is noticed",
          "[gateway][feed]")
{
    const auto account = account_id::make();
    const auto text = make_feed_cursor(account, {1, 300});
    CHECK_FALSE(read_feed_cursor(account_id::make(), text));
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        CHECK_FALSE(read_feed_cursor(account, changed));
    }
    for (const auto* wrong : {"", "x", "AQ", "AQEB", "Ag", "%%%", "AQEBAQEBAQEBAQEB"}) {
        const auto read = read_feed_cursor(account, wrong);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == errc::invalid_argument);
        CHECK(read.error().reason == error_reason::invalid_cursor);
    }
    CHECK_FALSE(read_feed_cursor(account, text + "A"));
    CHECK_FALSE(read_feed_cursor(account, text.substr(1)));
    CHECK_FALSE(read_feed_cursor(account, std::string(65, 'A')));
    CHECK_FALSE(read_feed_cursor(account, std::string(10'000, 'A')));
}
