#include "tempinboxctl/condition_text.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

TEST_CASE("a condition is field, operator and the rest as value", "[tempinboxctl]")
{
    const auto condition = parse_condition("  subject  contains   your invoice  7 ").value();

    CHECK(condition.what == rules::field::subject);
    CHECK(condition.how == rules::comparison::contains);
    CHECK(condition.value == "your invoice  7");
    CHECK(parse_condition("to ends_with @x.test").value().how == rules::comparison::ends_with);
}

TEST_CASE("a bad condition says what is wrong with it", "[tempinboxctl]")
{
    for (const auto* text : {"", "subject", "subject contains", "body contains x",
                             "subject matches x", "subject contains  "}) {
        const auto outcome = parse_condition(text);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == errc::invalid_argument);
        CHECK(outcome.error().message.starts_with("--when must be FIELD OPERATOR VALUE"));
    }
    CHECK_FALSE(parse_condition("subject contains " + std::string(501, 'x')));
}
