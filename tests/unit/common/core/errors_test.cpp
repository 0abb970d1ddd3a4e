#include "common/core/errors.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace tempinbox;

TEST_CASE("asking a failed result for its value throws the failure", "[core]")
{
    const result<int> failed = failure(errc::conflict, "taken");

    try {
        failed.value();
        FAIL("no exception");
    } catch (const failure_error& error) {
        CHECK(error.reason().code == errc::conflict);
        CHECK(std::string(error.what()) == "taken");
    }
}

TEST_CASE("results print for messages", "[core]")
{
    std::ostringstream out;
    out << result<int>(5) << " / " << result<void>() << " / "
        << result<int>(failure(errc::not_found, "gone"));

    CHECK(out.str() == "a value / success / not_found: gone");
}
