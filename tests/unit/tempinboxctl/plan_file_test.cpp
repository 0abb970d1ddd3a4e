#include "tempinboxctl/plan_file.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

command plan_set()
{
    for (const auto& one : plan_commands())
        if (one.name == "plan set")
            return one;
    throw std::logic_error("there is no plan set");
}

} // namespace

TEST_CASE("a file of plans is read with the options of plan set", "[tempinboxctl]")
{
    const auto plans = read_plans(R"({"plans":[{"plan":"pro","requestsPerDay":5000,
                                    "apiAccess":true,"priceAmount":"29"},{"plan":"free"}]})",
                                  plan_set());

    REQUIRE(plans);
    REQUIRE(plans->size() == 2);
    CHECK(plans->at(0).at("PLAN") == "pro");
    CHECK(plans->at(0).value("requests-per-day") == "5000");
    CHECK(plans->at(0).value("api-access") == "true");
    CHECK(plans->at(0).value("price-amount") == "29");
    CHECK(plans->at(1).options.empty());
}

TEST_CASE("a file of plans with anything else is refused", "[tempinboxctl]")
{
    const auto refusal_of = [](std::string_view json) {
        return read_plans(json, plan_set()).error().message;
    };

    CHECK(refusal_of(R"({"plan":[]})") == "the file must have \"plans\", an array");
    CHECK(refusal_of(R"({"plans":[{"requestsPerDay":1}]})") ==
          "each plan must have its name as \"plan\"");
    CHECK(refusal_of(R"({"plans":[{"plan":"pro","colour":"red"}]})") ==
          "plan \"pro\" has no \"colour\"");
    CHECK(refusal_of(R"({"plans":[{"plan":"pro","webhooks":[1]}]})") ==
          "plan \"pro\": webhooks must be a value, not an array");
}

TEST_CASE("a plan that has the values already needs no change", "[tempinboxctl]")
{
    record shown;
    shown.add("plan", "pro").add("webhooks", std::int64_t{5}).add("apiAccess", true);
    const auto requested = [](std::string_view json) {
        return read_plans(json, plan_set()).value().front();
    };

    CHECK(has_values(shown, requested(R"({"plans":[{"plan":"pro","webhooks":5}]})")));
    CHECK(has_values(shown, requested(R"({"plans":[{"plan":"pro"}]})")));
    CHECK_FALSE(has_values(
        shown, requested(R"({"plans":[{"plan":"pro","webhooks":5,"apiAccess":false}]})")));
    CHECK_FALSE(has_values(shown, requested(R"({"plans":[{"plan":"pro","apiKeys":1}]})")));
}
