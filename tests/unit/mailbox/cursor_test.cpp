#include "mailbox/cursor.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

TEST_CASE("a cursor gives back its position with its own filter", "[mailbox]")
{
    const auto cursor =
        make_cursor("inboxes 1 tag ci", "1795305600000000 01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f");

    CHECK(read_cursor(cursor, "inboxes 1 tag ci").value() ==
          "1795305600000000 01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f");
    CHECK(cursor.find_first_not_of(
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string::npos);
}

TEST_CASE("a cursor is refused with another filter, altered or made up", "[mailbox]")
{
    const auto cursor = make_cursor("inboxes 1", "17");
    auto altered = cursor;
    altered.back() = altered.back() == 'A' ? 'B' : 'A';

    for (const auto& outcome :
         {read_cursor(cursor, "inboxes 2"), read_cursor(altered, "inboxes 1"),
          read_cursor("", "inboxes 1"), read_cursor("not a cursor!", "inboxes 1"),
          read_cursor("AAAAAAAAAAAAAAAA", "inboxes 1")}) {
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == errc::invalid_argument);
        CHECK(outcome.error().message.starts_with("cursor "));
    }
}
