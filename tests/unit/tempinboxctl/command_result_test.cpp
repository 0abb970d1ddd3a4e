#include "tempinboxctl/command_result.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

record rule(const std::string& name)
{
    std::vector<record> conditions(1);
    conditions.front().add("field", "subject").add("operator", "contains").add("value", "invoice");
    record fields;
    fields.add("name", name)
        .add("events", std::vector<std::string>{"a", "b"})
        .add("conditions", conditions);
    fields.add("isEnabled", true)
        .add("count", std::int64_t{7})
        .add("disabledReason", record::field());
    return fields;
}

} // namespace

TEST_CASE("a result is one line of JSON", "[tempinboxctl]")
{
    CHECK(
        to_json(command_result(rule("r"))) ==
        R"({"name":"r","events":["a","b"],"conditions":[{"field":"subject","operator":"contains","value":"invoice"}],)"
        R"("isEnabled":true,"count":7,"disabledReason":null})"
        "\n");
    CHECK(to_json(command_result("rules", {})) == "{\"rules\":[]}\n");
}

TEST_CASE("one record is shown as aligned lines", "[tempinboxctl]")
{
    CHECK(to_text(command_result(rule("Rechnungen für mich"))) ==
          "name             Rechnungen für mich\n"
          "events           a,b\n"
          "conditions       subject contains invoice\n"
          "is enabled       yes\n"
          "count            7\n"
          "disabled reason  -\n");
}

TEST_CASE("a list is shown as a table, aligned by characters", "[tempinboxctl]")
{
    std::vector<record> records(2);
    records[0].add("label", "für").add("createdAt", "now");
    records[1].add("label", "longer").add("createdAt", record::field());

    CHECK(to_text(command_result("keys", records)) == "LABEL   CREATED_AT\n"
                                                      "für     now\n"
                                                      "longer  -\n");
    CHECK(to_text(command_result("keys", {})) == "no keys\n");
}
