#include "common/rules/rules.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox;
using rules::comparison;
using rules::condition;
using rules::field;
using rules::rule_input;

namespace {

rules::rule make_rule(webhook_id webhook, std::vector<condition> conditions, bool is_enabled = true)
{
    rules::rule made;
    made.id = rule_id::make();
    made.name = "rule";
    made.webhook = webhook;
    made.conditions = std::move(conditions);
    made.is_enabled = is_enabled;
    return made;
}

bool matches(field what, comparison how, std::string_view value, const rule_input& mail)
{
    return mail.matches(what, how, rules::fold(value));
}

bool subject_matches(comparison how, std::string_view value, std::string_view subject)
{
    return matches(field::subject, how, value,
                   rule_input("a@example.com", {"box@example.org"}, subject));
}

} // namespace

TEST_CASE("folding makes letters that differ only in case equal", "[rules]")
{
    CHECK(rules::fold("Order #42") == "order #42");
    CHECK(rules::fold("ÄÖÜ") == rules::fold("äöü"));
    CHECK(rules::fold("ΣΊΣΥΦΟΣ") == rules::fold("σίσυφος"));
    CHECK(rules::fold("ПРИВЕТ") == rules::fold("привет"));
    CHECK(rules::fold("") == "");
}

TEST_CASE("sharp s folds to ss in both of its cases", "[rules]")
{
    CHECK(rules::fold("Straße") == "strasse");
    CHECK(rules::fold("STRAẞE") == "strasse");
    CHECK(rules::fold("STRASSE") == "strasse");
}

TEST_CASE("dotted capital I folds to i and a combining dot, never to a bare i", "[rules]")
{
    CHECK(rules::fold("İ") == "i\xcc\x87");
    CHECK(rules::fold("İ") != rules::fold("i"));
    CHECK(rules::fold("I") == "i");
    CHECK(rules::fold("ı") != "i");
}

TEST_CASE("composed and decomposed forms are one text", "[rules]")
{
    CHECK(rules::fold("caf\xc3\xa9") == rules::fold("cafe\xcc\x81"));
    CHECK(rules::fold("CAFE\xcc\x81") == rules::fold("caf\xc3\xa9"));
    // Marks of different classes are put into canonical order.
    CHECK(rules::fold("q\xcc\x87\xcc\xa3") == rules::fold("q\xcc\xa3\xcc\x87"));
    // Hangul syllable and its jamo.
    CHECK(rules::fold("\xed\x95\x9c") == rules::fold("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"));
}

TEST_CASE("a blank of any kind is equal to any other", "[rules]")
{
    for (const std::string blank : {" ", "\t", "\u00a0", "\u1680", "\u2000", "\u2003", "\u2009",
                                    "\u200a", "\u2028", "\u202f", "\u205f", "\u3000"}) {
        CHECK(subject_matches(comparison::contains, "code 12", "Votre code" + blank + "12"));
        CHECK(subject_matches(comparison::contains, "code" + blank + "12", "Votre code 12"));
        CHECK(subject_matches(comparison::equals, "é" + blank + "12", "É 12"));
        CHECK(subject_matches(comparison::starts_with, "code" + blank + ":", "Code\u202f: 1"));
        CHECK(subject_matches(comparison::ends_with, "to" + blank + "ann", "für to\u00a0Ann"));
    }
    CHECK_FALSE(subject_matches(comparison::contains, "code 12", "code12"));
    CHECK_FALSE(subject_matches(comparison::contains, "code 12", "code\u200b12"));
}

TEST_CASE("a letter with an accent is another letter", "[rules]")
{
    CHECK_FALSE(subject_matches(comparison::ends_with, "cafe", "cafe\xcc\x81"));
    CHECK_FALSE(subject_matches(comparison::equals, "resume", "résumé"));
}

TEST_CASE("bytes that are not UTF-8 are folded as replacement characters", "[rules]")
{
    CHECK(rules::fold("A\xff"
                      "B") == "a\xef\xbf\xbd"
                              "b");
    CHECK(subject_matches(comparison::contains, "invoice", "\xc3 INVOICE"));
}

TEST_CASE("every operator compares without case", "[rules]")
{
    CHECK(subject_matches(comparison::contains, "INVOICE", "Your invoice is ready"));
    CHECK_FALSE(subject_matches(comparison::contains, "receipt", "Your invoice is ready"));
    CHECK(subject_matches(comparison::equals, "hello world", "Hello World"));
    CHECK_FALSE(subject_matches(comparison::equals, "hello", "Hello World"));
    CHECK(subject_matches(comparison::starts_with, "HELLO", "Hello World"));
    CHECK_FALSE(subject_matches(comparison::starts_with, "world", "Hello World"));
    CHECK(subject_matches(comparison::ends_with, "WORLD", "Hello World"));
    CHECK_FALSE(subject_matches(comparison::ends_with, "hello", "Hello World"));
}

TEST_CASE("a value longer than the field never matches", "[rules]")
{
    for (const auto how :
         {comparison::contains, comparison::equals, comparison::starts_with, comparison::ends_with})
        CHECK_FALSE(subject_matches(how, "longer than the subject", "long"));
}

TEST_CASE("patterns of other languages are plain text", "[rules]")
{
    CHECK(subject_matches(comparison::contains, ".*", "what does .* mean"));
    CHECK_FALSE(subject_matches(comparison::contains, ".*", "anything"));
    CHECK(subject_matches(comparison::contains, "100%", "Save 100%!"));
}

TEST_CASE("an empty subject matches no condition on the subject", "[rules]")
{
    for (const auto how :
         {comparison::contains, comparison::equals, comparison::starts_with, comparison::ends_with})
        CHECK_FALSE(subject_matches(how, "x", ""));
}

TEST_CASE("to matches any recipient as given, tag included", "[rules]")
{
    const rule_input mail("a@example.com", {"Box+Orders@Example.org", "box@example.org"}, "Hi");

    CHECK(matches(field::to, comparison::equals, "box+orders@example.org", mail));
    CHECK(matches(field::to, comparison::equals, "BOX@EXAMPLE.ORG", mail));
    CHECK(matches(field::to, comparison::contains, "+orders@", mail));
    CHECK(matches(field::to, comparison::starts_with, "box+", mail));
    CHECK_FALSE(matches(field::to, comparison::contains, "+invoices@", mail));
}

TEST_CASE("from is compared as one address", "[rules]")
{
    const rule_input mail("Billing@Shop.Example", {"box@example.org"}, "Hi");

    CHECK(matches(field::from, comparison::ends_with, "@shop.example", mail));
    CHECK(matches(field::from, comparison::equals, "billing@shop.example", mail));
    CHECK_FALSE(matches(field::from, comparison::equals, "shop.example", mail));
}

TEST_CASE("all conditions of a rule must match", "[rules]")
{
    const auto webhook = webhook_id::make();
    const rules::compiled_rules compiled(
        {make_rule(webhook, {{field::subject, comparison::contains, "invoice"},
                             {field::from, comparison::ends_with, "@shop.example"}})});

    CHECK(compiled.evaluate(rule_input("b@shop.example", {}, "Invoice 7")).webhooks ==
          std::vector{webhook});
    CHECK(compiled.evaluate(rule_input("b@other.example", {}, "Invoice 7")).webhooks.empty());
    CHECK(compiled.evaluate(rule_input("b@shop.example", {}, "Hello")).webhooks.empty());
}

TEST_CASE("a rule without conditions matches always, beside other matches too", "[rules]")
{
    const auto specific = webhook_id::make(), everything = webhook_id::make();
    const rules::compiled_rules compiled(
        {make_rule(specific, {{field::subject, comparison::contains, "invoice"}}),
         make_rule(everything, {})});

    CHECK(compiled.evaluate(rule_input("", {}, "")).webhooks == std::vector{everything});
    CHECK(compiled.evaluate(rule_input("", {}, "Invoice")).webhooks ==
          std::vector{specific, everything});
}

TEST_CASE("several matching rules of one webhook name it once", "[rules]")
{
    const auto webhook = webhook_id::make();
    const auto first = make_rule(webhook, {{field::subject, comparison::contains, "a"}});
    const auto second = make_rule(webhook, {{field::subject, comparison::contains, "b"}});

    const auto outcome = rules::compiled_rules({first, second}).evaluate(rule_input("", {}, "AB"));

    CHECK(outcome.webhooks == std::vector{webhook});
    CHECK(outcome.matched == std::vector{first.id, second.id});
}

TEST_CASE("disabled rules are left out", "[rules]")
{
    const rules::compiled_rules compiled({make_rule(webhook_id::make(), {}, false)});

    CHECK(compiled.empty());
    CHECK(compiled.evaluate(rule_input("", {}, "")).matched.empty());
}

TEST_CASE("names of fields and operators are those of the specification", "[rules]")
{
    for (const auto what : {field::subject, field::from, field::to})
        CHECK(*rules::parse_field(rules::to_string(what)) == what);
    for (const auto how :
         {comparison::contains, comparison::equals, comparison::starts_with, comparison::ends_with})
        CHECK(*rules::parse_comparison(rules::to_string(how)) == how);

    CHECK(rules::parse_field("body").error().message ==
          "field must be subject, from or to, not \"body\"");
    CHECK(rules::parse_field("Subject").has_error());
    CHECK(rules::parse_comparison("regex").error().code == errc::invalid_argument);
}

TEST_CASE("all conditions of twenty rules are evaluated in less than a millisecond, unoptimized",
          "[rules]")
{
    std::vector<rules::rule> all;
    for (int i = 0; i < 20; ++i)
        all.push_back(
            make_rule(webhook_id::make(),
                      {{field::to, comparison::contains, "BOX"},
                       {field::to, comparison::ends_with, ".ORG"},
                       {field::from, comparison::contains, "@"},
                       {field::from, comparison::starts_with, "ROBOT"},
                       {field::subject, comparison::contains, "Straße " + std::to_string(i)}}));
    const rules::compiled_rules compiled(all);

    // The quickest of many runs: the others depend on the machine's load.
    auto quickest = std::chrono::steady_clock::duration::max();
    for (int round = 0; round < 200; ++round) {
        const auto began = std::chrono::steady_clock::now();
        const rule_input mail("robot@shop.example", {"box+order@example.org"},
                              "Größe XL, ΣΊΣΥΦΟΣ, 60 Zeichen lang und mehr");
        REQUIRE(compiled.evaluate(mail).webhooks.empty());
        quickest = std::min(quickest, std::chrono::steady_clock::now() - began);
    }

    CHECK(quickest < std::chrono::milliseconds(1));
}

TEST_CASE("running text is folded to one line of what is shown", "[rules]")
{
    CHECK(rules::fold_text(" A\r\n\tb\x01\x7f c ") == "a b c");
    CHECK(rules::fold_text("4\u00ad8\u200b2\ufeff") == "482");
    CHECK(rules::fold_text("a\u00a0\u3000 \u200c b") == "a b");
    CHECK(rules::fold_text("Gro\u0308\u00dfe") == rules::fold("gr\u00f6sse"));
    for (const auto* blank : {"", " ", "\u00a0\r\n", "\u00ad\u200c"})
        CHECK(rules::fold_text(blank).empty());
    CHECK(rules::fold_text("a\xff"
                           "b") == rules::fold("a\xff"
                                               "b"));
}
