#include "common/faults/evaluation.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using faults::schedule;
using faults::stage;
using faults::step;
using kind = faults::schedule::kind;

namespace {

step refusal(stage at, std::string reply, schedule when = {})
{
    step made;
    made.at = at;
    made.reply = std::move(reply);
    made.when = when;
    return made;
}

// The transactions of an inbox, one after the other.
struct transactions
{
    std::vector<step> steps;
    faults::counts counted = {};
    time_point now = time_point(std::chrono::hours(1));
    bool has_login = false;

    std::string reply_to(stage at, std::vector<std::string> recipients = {"bob@a.example"})
    {
        faults::evaluation_request request;
        request.at = at;
        request.has_login = has_login;
        request.recipients = std::move(recipients);
        const auto result = faults::evaluate(steps, counted, request, now);
        return result.step ? steps[*result.step].reply : "";
    }
    std::string reply_to(const std::string& recipient)
    {
        return reply_to(stage::rcpt, {recipient});
    }
    std::int64_t used(std::size_t at) { return counted[{at, ""}].used; }
};

} // namespace

TEST_CASE("the first step that is not used up is played", "[faults]")
{
    transactions story{{refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 2}),
                        refusal(stage::rcpt, "550 5.7.1 b")}};

    CHECK(story.reply_to(stage::rcpt) == "451 4.7.1 a");
    CHECK(story.reply_to(stage::rcpt) == "451 4.7.1 a");
    CHECK(story.reply_to(stage::rcpt) == "550 5.7.1 b");
    CHECK(story.reply_to(stage::rcpt) == "550 5.7.1 b");
    CHECK(story.used(0) == 2);
    CHECK(story.used(1) == 2);
}

TEST_CASE("each stage comes to its own steps", "[faults]")
{
    transactions story{{refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 1}),
                        refusal(stage::end, "452 4.2.2 b", {kind::times, 1})}};

    CHECK(story.reply_to(stage::mail) == "");
    CHECK(story.reply_to(stage::rcpt) == "451 4.7.1 a");
    CHECK(story.reply_to(stage::rcpt) == "");
    CHECK(story.reply_to(stage::end) == "452 4.2.2 b");
    CHECK(story.reply_to(stage::rcpt) == "");
    CHECK(story.reply_to(stage::end) == "");
}

TEST_CASE("a step is for the recipients that contain its text, whatever their case", "[faults]")
{
    auto only_bob = refusal(stage::rcpt, "550 5.1.1 a");
    only_bob.to = "BOB@";
    auto any_of_message = refusal(stage::end, "452 4.2.2 b");
    any_of_message.to = "@b.example";
    transactions all{{only_bob, any_of_message}};

    CHECK(all.reply_to("ann@a.example") == "");
    CHECK(all.reply_to("Bob@a.example") == "550 5.1.1 a");
    CHECK(all.reply_to(stage::end, {"ann@a.example", "ann@A.example"}) == "");
    CHECK(all.reply_to(stage::end, {"ann@a.example", "ann@B.example"}) == "452 4.2.2 b");
}

TEST_CASE("a transaction uses a step once, at however many recipients", "[faults]")
{
    auto only_bob = refusal(stage::rcpt, "450 4.2.1 b", {kind::times, 1});
    only_bob.to = "bob@";
    transactions all{{only_bob, refusal(stage::rcpt, "451 4.7.1 a", {kind::every, 2})}};

    faults::evaluation_request request;
    request.at = stage::rcpt;
    std::vector<std::optional<std::size_t>> played;
    for (const auto* recipient : {"ann@a.example", "bob@a.example", "bob@b.example"}) {
        request.recipients = {recipient};
        const auto result = faults::evaluate(all.steps, all.counted, request, all.now);
        request.decided.insert(request.decided.end(), result.decided.begin(), result.decided.end());
        played.push_back(result.step);
    }

    CHECK(played == std::vector<std::optional<std::size_t>>{std::nullopt, 0, 0});
    CHECK(all.used(0) == 1);
    CHECK(all.counted[{1, ""}].seen == 1);
    CHECK(all.reply_to("ann@a.example") == "451 4.7.1 a");
}

TEST_CASE("greylisting defers each recipient once", "[faults]")
{
    auto grey = refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 1});
    grey.is_per_recipient = true;
    transactions all{{grey}};

    CHECK(all.reply_to("ann@a.example") == "451 4.7.1 a");
    CHECK(all.reply_to("bob@a.example") == "451 4.7.1 a");
    CHECK(all.reply_to("ANN@a.example") == "");
    CHECK(all.reply_to("bob@a.example") == "");
    CHECK(all.used(0) == 2);
}

TEST_CASE("an evaluation comes to no counts but those of its keys", "[faults]")
{
    auto grey = refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 1});
    grey.is_per_recipient = true;
    const std::vector<step> steps{grey, refusal(stage::rcpt, "450 4.2.1 b", {kind::every, 2}),
                                  refusal(stage::end, "452 4.2.2 c", {kind::times, 3})};
    faults::counts all;
    for (const auto* recipient :
         {"ann@a.example", "Bob@a.example", "ann@a.example", "BOB@a.example"}) {
        for (const auto at : {stage::rcpt, stage::end}) {
            faults::evaluation_request request;
            request.at = at;
            request.recipients = {recipient};
            const auto keys = faults::keys_of(steps, request);
            CHECK(keys.size() == (at == stage::rcpt ? 3 : 1));
            faults::counts some;
            for (const auto& key : keys)
                if (all.contains(key))
                    some.emplace(key, all[key]);
            auto expected = all;

            const auto result = faults::evaluate(steps, some, request, {});

            CHECK(faults::evaluate(steps, expected, request, {}).step == result.step);
            for (const auto& [key, count] : some)
                all.insert_or_assign(key, count);
            CHECK(all == expected);
        }
    }
    CHECK(all.size() == 5);
}

TEST_CASE("past a thousand recipients none is counted by itself", "[faults]")
{
    auto grey = refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 1});
    grey.is_per_recipient = true;
    transactions all{{grey, refusal(stage::rcpt, "450 4.2.1 b")}};
    for (int i = 0; i < 1'000; ++i)
        REQUIRE(all.reply_to(std::to_string(i) + "@a.example") == "451 4.7.1 a");

    faults::evaluation_request request;
    request.at = stage::rcpt;
    request.recipients = {"new@a.example"};
    const auto result = faults::evaluate(all.steps, all.counted, request, all.now);

    CHECK(result.is_uncounted);
    CHECK(result.step == std::size_t{1});
    CHECK(all.counted.size() == 1'002);
    CHECK(all.reply_to("7@a.example") == "450 4.2.1 b");
}

TEST_CASE("a step for a time begins with its first use", "[faults]")
{
    transactions all{{refusal(stage::data, "451 4.3.0 a", {kind::for_seconds, 10})}};
    all.now += std::chrono::hours(5);

    CHECK(all.reply_to(stage::data) == "451 4.3.0 a");
    all.now += std::chrono::milliseconds(9'999);
    CHECK(all.reply_to(stage::data) == "451 4.3.0 a");
    all.now += std::chrono::milliseconds(1);
    CHECK(all.reply_to(stage::data) == "");
    all.now += std::chrono::hours(1);
    CHECK(all.reply_to(stage::data) == "");
    CHECK(all.used(0) == 2);
}

TEST_CASE("a rate refuses what is past it, in each minute from the first on", "[faults]")
{
    transactions all{{refusal(stage::mail, "421 4.7.0 a", {kind::above_per_minute, 30})}};
    const auto refused_of_40 = [&] {
        int refused = 0;
        for (int i = 0; i < 40; ++i) {
            refused += all.reply_to(stage::mail, {}).empty() ? 0 : 1;
            all.now += std::chrono::seconds(1);
        }
        return refused;
    };

    CHECK(refused_of_40() == 10);
    all.now += std::chrono::seconds(20);
    CHECK(refused_of_40() == 10);
    CHECK(all.used(0) == 20);
}

TEST_CASE("each n-th use is played", "[faults]")
{
    transactions all{{refusal(stage::end, "451 4.3.0 a", {kind::every, 3})}};

    std::string played;
    for (int i = 0; i < 7; ++i)
        played += all.reply_to(stage::end).empty() ? '.' : 'x';

    CHECK(played == "..x..x.");
}

TEST_CASE("a later step counts what comes to it", "[faults]")
{
    transactions all{{refusal(stage::rcpt, "451 4.7.1 a", {kind::times, 2}),
                      refusal(stage::rcpt, "450 4.2.1 b", {kind::every, 2})}};

    std::string played;
    for (int i = 0; i < 6; ++i) {
        const auto reply = all.reply_to(stage::rcpt);
        played += reply.empty() ? '.' : reply.back();
    }

    CHECK(played == "aa.b.b");
}

TEST_CASE("without a login no step closes the connection at a recipient", "[faults]")
{
    auto cut = refusal(stage::rcpt, "");
    cut.cut = faults::cut_kind::unstored;
    transactions all{{refusal(stage::rcpt, "421 4.7.0 a", {kind::times, 1}), cut,
                      refusal(stage::rcpt, "450 4.2.1 b")}};

    CHECK(all.reply_to(stage::rcpt) == "450 4.2.1 b");
    CHECK(all.used(0) == 0);
    all.has_login = true;
    CHECK(all.reply_to(stage::rcpt) == "421 4.7.0 a");
    CHECK(all.reply_to(stage::rcpt) == "");
    CHECK(all.used(1) == 1);
}
