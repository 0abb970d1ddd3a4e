#include "common/kafka/message.hpp"

#include <catch2/catch.hpp>

using tempinbox::kafka::record;

TEST_CASE("of a header given twice the last wins", "[kafka]")
{
    record record;
    record.headers = {{"traceparent", "first"}, {"ce_id", "x"}, {"traceparent", "last"}};

    CHECK(record.header("traceparent") == "last");
    CHECK(record.header("ce_id") == "x");
    CHECK_FALSE(record.header("absent"));
}
