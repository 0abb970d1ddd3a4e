#include "common/faults/messages.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using faults::cut_kind;
using faults::schedule;
using faults::stage;
using faults::step;

namespace {

step refusal(stage at, std::string reply)
{
    step made;
    made.at = at;
    made.reply = std::move(reply);
    return made;
}

std::string error_of(const inbox::v1::FaultStep& message)
{
    inbox::v1::FaultSteps steps;
    *steps.add_steps() = message;
    const auto read = faults::from_proto(steps);
    return read ? "" : read.error().message;
}

} // namespace

TEST_CASE("steps are read as they were written", "[faults]")
{
    std::vector<step> steps{refusal(stage::rcpt, "451 4.7.1 Later"),
                            refusal(stage::mail, "421 4.7.0 Slower")};
    steps[0].when = {schedule::kind::times, 2};
    steps[0].to = "bob@";
    steps[0].is_per_recipient = true;
    steps[1].when = {schedule::kind::above_per_minute, 30};
    steps[1].delay = std::chrono::seconds(3);
    step& cut = steps.emplace_back();
    cut.at = stage::end;
    cut.cut = cut_kind::stored;
    cut.when = {schedule::kind::every, 3};
    step& slow = steps.emplace_back();
    slow.at = stage::auth;
    slow.delay = std::chrono::seconds(1);
    slow.when = {schedule::kind::for_seconds, 60};

    CHECK(faults::from_proto(faults::to_proto(steps)).value() == steps);

    const auto stages = faults::stages_of(steps);
    CHECK(stages.has(stage::end));
    CHECK_FALSE(stages.has(stage::data));
    CHECK(faults::stage_set(stages.bits()).has(stage::auth));
}

TEST_CASE("what is no step says which one, and what is allowed", "[faults]")
{
    inbox::v1::FaultStep message;
    message.set_stage("connect");
    CHECK(error_of(message) ==
          "steps[0].stage must be one of auth, mail, rcpt, data, end, not \"connect\"");

    message.set_stage("rcpt");
    message.set_cut("half");
    CHECK(error_of(message) == "steps[0].cut must be one of unstored, stored, not \"half\"");

    message.set_cut("unstored");
    message.set_times(1);
    message.set_every(2);
    CHECK(error_of(message) ==
          "steps[0] must have at most one of times, forSeconds, abovePerMinute and every");

    inbox::v1::FaultSteps many;
    for (int i = 0; i < 21; ++i)
        many.add_steps();
    CHECK(faults::from_proto(many).error().message ==
          "steps must be an array of at most 20 objects, not of 21");
}
