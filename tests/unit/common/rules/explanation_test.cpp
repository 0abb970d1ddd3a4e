#include "common/rules/explanation.hpp"

#include "common/core/text.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace tempinbox;
using rules::comparison;
using rules::condition;
using rules::field;
using rules::tested_mail;

namespace {

const tested_mail bill{
    "Billing@Shop.example", {"box+bills@example.org", "Box@Example.org"}, "Your INVOICE of May"};

rules::rule make_rule(std::vector<condition> conditions)
{
    rules::rule made;
    made.id = rule_id::make();
    made.webhook = webhook_id::make();
    made.conditions = std::move(conditions);
    return made;
}

rules::explanation explain(const rules::rule& candidate, const tested_mail& mail)
{
    return rules::explain(candidate, mail, rules::rule_input(mail.from, mail.to, mail.subject));
}

} // namespace

TEST_CASE("each condition is explained with what the mail has there", "[rules]")
{
    const auto found = explain(make_rule({{field::subject, comparison::contains, "invoice"},
                                          {field::from, comparison::ends_with, "@other.example"},
                                          {field::to, comparison::equals, "BOX@example.org"}}),
                               bill);

    CHECK_FALSE(found.matched);
    REQUIRE(found.conditions.size() == 3);
    CHECK(found.conditions[0].matched);
    CHECK(found.conditions[0].actual == "Your INVOICE of May");
    CHECK_FALSE(found.conditions[1].matched);
    CHECK(found.conditions[1].actual == "Billing@Shop.example");
    CHECK(found.conditions[2].matched);
    CHECK(found.conditions[2].actual == "Box@Example.org");
}

TEST_CASE("of recipients none of which matches all are shown", "[rules]")
{
    const auto found = explain(make_rule({{field::to, comparison::contains, "orders"}}), bill);

    CHECK_FALSE(found.matched);
    CHECK(found.conditions.front().actual == "box+bills@example.org, Box@Example.org");
}

TEST_CASE("of many recipients none of which matches the first thousand characters are shown",
          "[rules]")
{
    const tested_mail crowd{"", std::vector<std::string>(100, "é" + std::string(99, 'x')), ""};

    const auto found =
        explain(make_rule({{field::to, comparison::contains, "orders"}}), crowd).conditions.front();

    CHECK_FALSE(found.matched);
    CHECK(count_characters(found.actual) == 1'000);
    CHECK(found.actual.starts_with("éxx"));
    const auto hit =
        explain(make_rule({{field::to, comparison::equals, "ÉY"}}), {"", {"a", "Éy"}, ""})
            .conditions.front();
    CHECK(hit.matched);
    CHECK(hit.actual == "Éy");
}

TEST_CASE(
    "a rule without conditions matches, and a mail without recipients has an empty text there",
    "[rules]")
{
    CHECK(explain(make_rule({}), tested_mail{}).matched);
    const auto found = explain(make_rule({{field::to, comparison::contains, "a"}}), tested_mail{});
    CHECK_FALSE(found.matched);
    CHECK(found.conditions.front().actual.empty());
}

TEST_CASE("what is explained is what is decided", "[rules]")
{
    std::mt19937 random(7);
    const std::vector<std::string> words{"a", "B", "ß", "SS",          "é",    "e\xcc\x81",
                                         "İ", "Ω", "ω", "x@y.example", "bill", "BILL"};
    const auto pick = [&] { return words[random() % words.size()]; };
    constexpr field fields[] = {field::subject, field::from, field::to};
    constexpr comparison comparisons[] = {comparison::contains, comparison::equals,
                                          comparison::starts_with, comparison::ends_with};
    int matches = 0;
    for (int round = 0; round < 2'000; ++round) {
        const tested_mail mail{pick(), {pick(), pick() + pick()}, pick() + pick() + pick()};
        std::vector<condition> conditions;
        for (auto left = random() % 4; left > 0; --left)
            conditions.push_back({fields[random() % 3], comparisons[random() % 4], pick()});
        const auto rule = make_rule(conditions);

        const auto decided = rules::compiled_rules({rule})
                                 .evaluate(rules::rule_input(mail.from, mail.to, mail.subject))
                                 .matched;

        const auto found = explain(rule, mail);
        matches += found.matched ? 1 : 0;
        if (found.matched != !decided.empty())
            FAIL("explained otherwise than decided: " << mail.subject);
    }
    CHECK(matches > 100);
    CHECK(matches < 1'900);
}
