#include "gateway/json/resources.hpp"

#include "unit/gateway/resources/contract.hpp"

#include <catch2/catch.hpp>

#include <google/protobuf/descriptor.h>

#include <set>

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

TEST_CASE("an email's summary has the members of the contract", "[gateway][json]")
{
    const auto schema = schema_of("EmailSummary");
    const auto alone = json::value::parse(gateway::to_json(inbox::v1::EmailSummary())).value();

    inbox::v1::ListEmailsResponse list;
    list.add_emails();
    gateway::email_extras all;
    all.text = all.codes = all.links = true;
    const auto listed = json::value::parse(gateway::to_json(list, all)).value();

    CHECK(names_of(alone) == required_of(schema));
    CHECK(names_of(listed["emails"][0]) == names_of(schema["properties"]));
    std::set<std::string> sent;
    const auto& fields = *inbox::v1::EmailSummary::descriptor();
    for (int index = 0; index < fields.field_count(); ++index)
        sent.insert(fields.field(index)->json_name());
    CHECK(names_of(listed["emails"][0]) == sent);
}

TEST_CASE("a whole email has the members of its summary, and those of the contract",
          "[gateway][json]")
{
    const auto schema = schema_of("Email");
    const auto email = json::value::parse(gateway::to_json(inbox::v1::Email())).value();

    CHECK(names_of(email) == names_of(schema["properties"]));
    CHECK(names_of(email) == required_of(schema));
    for (const auto& name : required_of(schema_of("EmailSummary")))
        CHECK(names_of(email).contains(name));
}
