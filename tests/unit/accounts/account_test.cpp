#include "accounts/account.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("an account's email address looks like one", "[accounts]")
{
    const std::string good[] = {"a@b", "name@example.com", "first.last+tag@example.co.uk",
                                "müller@example.de"};
    const std::string bad[] = {"",       "a",
                               "@",      "a@",
                               "@b",     "a@b@c",
                               "a b@c",  "a@b c",
                               "a\n@b",  std::string("a\0@b", 4),
                               "\xff@b", std::string(250, 'a') + "@b.de"};

    for (const auto& address : good)
        CHECK(accounts::check_email_address(address));
    for (const auto& address : bad)
        CHECK_FALSE(accounts::check_email_address(address));
}
