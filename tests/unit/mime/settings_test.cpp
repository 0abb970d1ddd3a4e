#include "mime/settings.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("how far a message is read is three settings", "[mime][settings]")
{
    config::reader reader(std::map<std::string, std::string>{
        {"header-view-bytes", "64KiB"}, {"part-depth", "10"}, {"parts", "50"}});

    const auto chosen = mime::read_settings(reader);

    REQUIRE(reader.problems().empty());
    CHECK(chosen.header_bytes == 64 * 1024);
    CHECK(chosen.depth == 10);
    CHECK(chosen.parts == 50);
}

TEST_CASE("when nothing is said a message is read as far as the limits say", "[mime][settings]")
{
    config::reader reader;

    const auto chosen = mime::read_settings(reader);

    const mime::view_limits limits;
    CHECK(chosen.header_bytes == limits.header_bytes);
    CHECK(chosen.depth == limits.depth);
    CHECK(chosen.parts == limits.parts);
}
