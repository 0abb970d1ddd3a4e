#include "common/outbox/outbox.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("headers survive the headers column", "[outbox]")
{
    const kafka::header_list headers{
        {"ce_id", "a"}, {"ce_time", "2026-11-21T10:00:00.000Z"}, {"empty", ""}, {"x", "a: b"}};
    CHECK(outbox::headers_from_text(outbox::to_text(headers)) == headers);
    CHECK(outbox::to_text({}) == "");
    CHECK(outbox::headers_from_text("").empty());
}

TEST_CASE("a value cannot make a header of its own", "[outbox]")
{
    const auto headers = outbox::headers_from_text(outbox::to_text({{"reason", "a\nce_id: b"}}));
    CHECK(headers == kafka::header_list{{"reason", "a ce_id: b"}});
}
