#include "common/faults/step.hpp"

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

std::string error_of(const step& candidate)
{
    const auto checked = faults::check(candidate, "steps[3]");
    return checked ? "" : checked.error().message;
}

} // namespace

TEST_CASE("a reply is a refusal with an enhanced code of its class and a text", "[faults]")
{
    for (const auto* reply : {"451 4.7.1 Try again later", "550 5.1.1 No such user", "421 4.3.2 x",
                              "554 5.999.999 ~ ! \" text"}) {
        INFO(reply);
        CHECK(error_of(refusal(stage::rcpt, reply)) == "");
    }

    for (const auto* reply :
         {"250 2.0.0 Ok", "354 3.0.0 Go", "451", "451 Later", "451 4.7.1", "451 4.7.1 ",
          "451 4.7.1    ", "451 5.7.1 Later", "550 4.1.1 No", "461 4.7.1 Later", "45 4.7.1 Later",
          "4511 4.7.1 Later", "451-4.7.1 Later", "451 4.7 Later", "451 4.7777.1 Later",
          "451 4..1 Later", "451 4.7.1\r\n250 2.0.0 Ok", "451 4.7.1 L\xc3\xa4ter",
          "451 4.7.1 tab\there"}) {
        INFO(reply);
        CHECK_THAT(error_of(refusal(stage::rcpt, reply)),
                   Catch::StartsWith("steps[3].reply must be a 4xx or 5xx code, an enhanced code "
                                     "of the same class and a text, at most 200 printable ASCII"));
    }
    CHECK(error_of(refusal(stage::end, "451 4.7.1 " + std::string(190, 'x'))) == "");
    CHECK(error_of(refusal(stage::end, "451 4.7.1 " + std::string(191, 'x'))) != "");
}

TEST_CASE("a step does something, and one thing", "[faults]")
{
    step nothing;
    CHECK(error_of(nothing) == "steps[3] must have a reply, delaySeconds or cut");

    auto both = refusal(stage::end, "451 4.7.1 Later");
    both.cut = cut_kind::unstored;
    CHECK(error_of(both) == "steps[3].cut must be left out where there is a reply");

    step slow;
    slow.delay = std::chrono::seconds(300);
    CHECK(error_of(slow) == "");
    slow.delay = std::chrono::seconds(301);
    CHECK(error_of(slow) == "steps[3].delaySeconds must be an integer from 0 to 300, not 301");
}

TEST_CASE("only a whole message is stored before the connection is cut", "[faults]")
{
    step cut;
    cut.cut = cut_kind::stored;
    for (const auto at : {stage::auth, stage::mail, stage::rcpt, stage::data}) {
        cut.at = at;
        CHECK(error_of(cut) == "steps[3].cut must be unstored at " +
                                   std::string(faults::to_text(at)) +
                                   ": a message is stored at end alone");
    }
    cut.at = stage::end;
    CHECK(error_of(cut) == "");
}

TEST_CASE("a step names recipients only where they are known", "[faults]")
{
    auto named = refusal(stage::mail, "451 4.7.1 Later");
    named.to = "bob@";
    CHECK(error_of(named) == "steps[3].to must be left out at mail: no recipient is known there");
    named.at = stage::end;
    CHECK(error_of(named) == "");
    named.to = std::string(321, 'a');
    CHECK(error_of(named) == "steps[3].to must have 1 to 320 characters");

    auto counted = refusal(stage::data, "451 4.7.1 Later");
    counted.is_per_recipient = true;
    CHECK(error_of(counted) == "steps[3].per must be left out at data: recipients are counted by "
                               "themselves at rcpt");
}

TEST_CASE("numbers of a step are bounded", "[faults]")
{
    using kind = schedule::kind;
    const std::pair<schedule, std::string> refused[] = {
        {{kind::times, 0}, "times must be an integer from 1 to 1000000, not 0"},
        {{kind::for_seconds, 31'622'401},
         "forSeconds must be an integer from 1 to 31622400, not 31622401"},
        {{kind::above_per_minute, -1}, "abovePerMinute must be an integer from 1 to 1000000"},
        {{kind::every, 1'000'001}, "every must be an integer from 1 to 1000000"}};
    for (const auto& [when, message] : refused) {
        auto candidate = refusal(stage::rcpt, "451 4.7.1 Later");
        candidate.when = when;
        CHECK_THAT(error_of(candidate), Catch::StartsWith("steps[3]." + message));
    }
}

TEST_CASE("421 and a cut close, other replies do not", "[faults]")
{
    CHECK(refusal(stage::mail, "421 4.7.0 Slower").closes());
    CHECK_FALSE(refusal(stage::mail, "450 4.2.1 Slower").closes());
    step cut;
    cut.cut = cut_kind::unstored;
    CHECK(cut.closes());
}
