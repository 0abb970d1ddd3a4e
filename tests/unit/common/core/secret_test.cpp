#include "common/core/secret.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace tempinbox;

TEST_CASE("a secret does not print itself", "[core]")
{
    std::ostringstream out;
    out << secret("hunter2");

    CHECK(out.str() == "***");
    CHECK(secret("hunter2").reveal() == "hunter2");
    CHECK(secret().empty());
}
