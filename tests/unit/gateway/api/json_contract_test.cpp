#include "gateway/api/json.hpp"

#include "unit/gateway/api/contract.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::names_of;
using testing::required_of;
using testing::schema_of;

// What the gateway answers has the members that docs/openapi.yaml lists. The dashboard's types are
// made from that file, too.
TEST_CASE("the limits of an account are those of the contract", "[gateway][json]")
{
    const auto account =
        json::value::parse(gateway::to_json(accounts::account(), {}, time_point())).value();
    const auto schema = schema_of("Limits");

    CHECK(names_of(account["limits"]) == names_of(schema["properties"]));
    CHECK(names_of(account["limits"]) == required_of(schema));
}

TEST_CASE("a limit is a truth or a number in the contract, as it is in a plan", "[gateway][json]")
{
    const auto properties = schema_of("Limits")["properties"];

    for (const auto& limit : plans::all_limits()) {
        if (limit.shown_to != plans::audience::api)
            continue;
        INFO(limit.name);
        const auto property = properties.find(limit.json_name());
        REQUIRE(property);
        const auto type = (*property)["type"];
        const auto first = type.is_array() ? type[0].text() : type.text();
        CHECK(first == (limit.is_truth ? "boolean" : "integer"));
    }
}
