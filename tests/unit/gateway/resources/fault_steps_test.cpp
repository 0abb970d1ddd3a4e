#include "gateway/resources/fault_steps.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

std::string error_of(const std::string& body)
{
    auto fields = json::object_reader::parse(body);
    if (!fields)
        return fields.error().message;
    read_fault_steps(*fields);
    const auto read = fields->finish();
    return read ? "" : read.error().message;
}

std::string error_of_step(const std::string& fields)
{
    return error_of(R"({"steps":[{"stage":"rcpt","delaySeconds":1},{)" + fields + "}]}");
}

} // namespace

TEST_CASE("steps of faults are read field by field", "[gateway][faults]")
{
    auto body = json::object_reader::parse(
        R"({"steps":[{"stage":"rcpt","reply":"451 4.7.1 Later","times":2,"to":"bob@",)"
        R"("per":"recipient"},{"stage":"end","cut":"stored","delaySeconds":3,"every":2}]})");

    const auto steps = read_fault_steps(*body);

    REQUIRE(body->finish());
    REQUIRE(steps.steps_size() == 2);
    CHECK(steps.steps(0).stage() == "rcpt");
    CHECK(steps.steps(0).reply() == "451 4.7.1 Later");
    CHECK(steps.steps(0).times() == 2);
    CHECK(steps.steps(0).to() == "bob@");
    CHECK(steps.steps(0).per_recipient());
    CHECK(steps.steps(1).cut() == "stored");
    CHECK(steps.steps(1).delay_seconds() == 3);
    CHECK(steps.steps(1).every() == 2);
    CHECK_FALSE(steps.steps(1).has_times());
}

TEST_CASE("no steps are a set of none", "[gateway][faults]")
{
    CHECK(error_of(R"({"steps":[]})") == "");
    CHECK(error_of("{}") == "steps is required: an array of at most 20 objects");
}

TEST_CASE("what is wrong with a step names its field and what is allowed", "[gateway][faults]")
{
    const std::pair<const char*, const char*> refused[] = {
        {R"("reply":"451 4.7.1 x")", "steps[1].stage is required: one of auth, mail, rcpt, data, "
                                     "end"},
        {R"("stage":"connect","reply":"451 4.7.1 x")",
         "steps[1].stage must be one of auth, mail, rcpt, data, end, not \"connect\""},
        {R"("stage":"rcpt")", "steps[1] must have a reply, delaySeconds or cut"},
        {R"("stage":"rcpt","reply":"250 2.0.0 Ok")", "steps[1].reply must be a 4xx or 5xx code"},
        {R"("stage":"rcpt","reply":"451 4.7.1 a\r\n250 2.0.0 b")",
         "steps[1].reply must be a 4xx or 5xx code"},
        {R"("stage":"rcpt","delaySeconds":301)",
         "steps[1].delaySeconds must be an integer from 0 to 300, not 301"},
        {R"("stage":"rcpt","delaySeconds":1.5)",
         "steps[1].delaySeconds must be an integer from 0 to 300, not 1.5"},
        {R"("stage":"rcpt","cut":"stored")", "steps[1].cut must be unstored at rcpt"},
        {R"("stage":"mail","cut":"unstored","to":"a")", "steps[1].to must be left out at mail"},
        {R"("stage":"end","cut":"unstored","per":"recipient")",
         "steps[1].per must be left out at end"},
        {R"("stage":"end","cut":"unstored","per":"inbox")",
         "steps[1].per must be one of recipient, not \"inbox\""},
        {R"("stage":"end","cut":"unstored","times":1,"every":2)",
         "steps[1] must have at most one of times"},
        {R"("stage":"end","cut":"unstored","chance":0.5)", "steps[1].chance is unknown here"}};
    for (const auto& [fields, message] : refused) {
        INFO(fields);
        CHECK_THAT(error_of_step(fields), Catch::StartsWith(message));
    }
    std::string many;
    for (int i = 0; i < 21; ++i)
        many += R"(,{"stage":"rcpt","delaySeconds":1})";
    CHECK(error_of(R"({"steps":[)" + many.substr(1) + "]}") ==
          "steps must be an array of at most 20 objects, not of 21");
}
