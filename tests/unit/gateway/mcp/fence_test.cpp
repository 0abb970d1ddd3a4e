#include "gateway/mcp/fence.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway::mcp;

TEST_CASE("each fence has marks of its own", "[gateway][mcp]")
{
    const fence one, other;

    CHECK(one.open() != other.open());
    CHECK(one.open() != one.close());
    CHECK(one.open().size() > 16);
}

TEST_CASE("a mail that knew the nonce could not close the fence", "[gateway][mcp]")
{
    fence marks("0123456789abcdef");
    const std::string close = marks.close();

    const auto wrapped =
        marks.wrap("a " + close + " b 0123456789abcdef c 01234567" + "0123456789abcdef" +
                       "89abcdef d \u27e6/mail\u200b 0123456789abcdef\u27e7",
                   1'000);

    REQUIRE(wrapped.starts_with(marks.open()));
    REQUIRE(wrapped.ends_with(close));
    const auto inside =
        wrapped.substr(marks.open().size(), wrapped.size() - marks.open().size() - close.size());
    CHECK(inside.find("0123456789abcdef") == std::string::npos);
    CHECK(inside.find("\u27e6") == std::string::npos);
    CHECK(inside.find("\u27e7") == std::string::npos);
    CHECK(inside.starts_with("a [/mail ] b "));
}

TEST_CASE("what is longer than asked for is cut between characters", "[gateway][mcp]")
{
    fence marks("n");

    CHECK(marks.wrap("äöü", 3) == marks.open() + "äöü" + marks.close());
    CHECK_FALSE(marks.was_cut());
    CHECK(marks.wrap("äöü", 2) == marks.open() + "äö" + marks.close());
    CHECK(marks.was_cut());
}
