#include "common/postgres/parameters.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::postgres;

TEST_CASE("text arrays quote what needs quoting", "[postgres]")
{
    CHECK(text_array({}) == "{}");
    CHECK(text_array({"a", "", "b\"c\\d", "e,f", "{g}\n"}) ==
          "{\"a\",\"\",\"b\\\"c\\\\d\",\"e,f\",\"{g}\n\"}");
}

TEST_CASE("integer arrays are plain", "[postgres]")
{
    CHECK(integer_array({}) == "{}");
    CHECK(integer_array({1, -2, 3}) == "{1,-2,3}");
}

TEST_CASE("binary values are packed end to end", "[postgres]")
{
    packed_bytes packed;
    packed.add("ab");
    packed.add_null();
    packed.add("");
    packed.add(std::string("\0c", 2));

    CHECK(packed.bytes().str() == std::string("ab\0c", 4));
    CHECK(packed.starts() == "{1,1,3,3}");
    CHECK(packed.lengths() == "{2,-1,0,2}");
}
