#include "common/core/blanks.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("blanks of any kind at the ends of a text are removed", "[core]")
{
    CHECK(trim_blanks("\u3000 \r\n\ta\u00a0b\u202f\u2009 \u0085") == "a\u00a0b");
    CHECK(trim_blanks("\u00a0\u2003 ").empty());
    CHECK(trim_blanks("").empty());
    CHECK(trim_blanks("\u200ba\u200b") == "\u200ba\u200b");
    CHECK(trim_blanks("\u00e0\u2010\u3001") == "\u00e0\u2010\u3001");
}

TEST_CASE("a blank of any kind becomes a space", "[core]")
{
    CHECK(with_plain_blanks("a\u00a0b\u3000\tc\u2011") == "a b  c\u2011");
    CHECK(with_plain_blanks("\xe2\x80") == "\xe2\x80");
}
