#include "inbox/settings.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

std::vector<std::string> warnings_of(const std::string& quarantine)
{
    config::reader reader({{"database", "postgresql://localhost/t"},
                           {"rpc-token-file", "/dev/null"},
                           {"quarantine", quarantine}});
    inbox::read_settings(reader);
    CHECK(reader.problems().empty());
    return reader.warnings();
}

} // namespace

TEST_CASE("inboxes that are gone before their events are a warning", "[inbox]")
{
    CHECK(warnings_of("96h").empty());

    const auto warnings = warnings_of("95h");

    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("quarantine"));
}
