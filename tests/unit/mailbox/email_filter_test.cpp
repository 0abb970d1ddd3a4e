#include "mailbox/email_filter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox::mailbox;

namespace {

filtered_email some_email(bool has_code = true)
{
    return filtered_email(
        "Robot@Sender.Example", "Zoë the Robot", {"box+Shop@mail.test", "box@mail.test"},
        {{"All", "List@lists.example"}, {"", "box@mail.test"}}, "Größe: your CODE", has_code);
}

email_filter filter(std::optional<std::string> from, std::optional<std::string> to = {},
                    std::optional<std::string> subject = {}, std::optional<bool> has_code = {})
{
    email_filter requested;
    requested.from = std::move(from);
    requested.to = std::move(to);
    requested.subject = std::move(subject);
    requested.has_code = has_code;
    return requested;
}

std::optional<filter_field> first_failing(const email_filter& requested,
                                          const filtered_email& email = some_email())
{
    return compiled_filter(requested).first_failing(email);
}

} // namespace

TEST_CASE("a filter without conditions takes every email", "[mailbox][filter]")
{
    CHECK(compiled_filter(email_filter()).is_empty());
    CHECK(compiled_filter(email_filter()).matches(some_email()));
    CHECK_FALSE(compiled_filter(filter("x")).is_empty());
}

TEST_CASE("from is found in the address and in the display name, whatever the case",
          "[mailbox][filter]")
{
    for (const auto* text : {"robot@sender.example", "ROBOT@", "sender", "zoë", "ZOË THE",
                             "zoe\xcc\x88 the robot", ""})
        CHECK_FALSE(first_failing(filter(text)));
    CHECK(first_failing(filter("zoe the")) == filter_field::from);
    CHECK(first_failing(filter("robot@sender.example zoë")) == filter_field::from);
}

TEST_CASE("to is found in recipients as given and in addresses of To", "[mailbox][filter]")
{
    for (const auto* text : {"+shop@", "box@mail.test", "LISTS.example"})
        CHECK_FALSE(first_failing(filter({}, text)));
    CHECK(first_failing(filter({}, "other@mail.test")) == filter_field::to);
    for (const auto* text : {"box@mail.test, ", "All"})
        CHECK(first_failing(filter({}, text)) == filter_field::to);
}

TEST_CASE("subject is compared after full Unicode case folding", "[mailbox][filter]")
{
    for (const auto* text : {"GRÖSSE", "größe", "gro\xcc\x88\xc3\x9f", "Your code"})
        CHECK_FALSE(first_failing(filter({}, {}, text)));
    CHECK(first_failing(filter({}, {}, "grosse")) == filter_field::subject);
}

TEST_CASE("hasCode asks for a code that was found, or for none", "[mailbox][filter]")
{
    CHECK_FALSE(first_failing(filter({}, {}, {}, false), some_email(false)));
    CHECK(first_failing(filter({}, {}, {}, false)) == filter_field::has_code);
    CHECK_FALSE(compiled_filter(filter({}, {}, {}, false)).is_empty());
    CHECK_FALSE(first_failing(filter({}, {}, {}, true)));
    CHECK(first_failing(filter({}, {}, {}, true), some_email(false)) == filter_field::has_code);
    CHECK_FALSE(first_failing(filter({}), some_email(false)));
}

TEST_CASE("every condition must hold, and the first that fails is named", "[mailbox][filter]")
{
    CHECK_FALSE(first_failing(filter("zoë", "box", "code", true)));
    CHECK(first_failing(filter("a!", "b", "c", true), some_email(false)) == filter_field::from);
    CHECK(first_failing(filter("zoë", "b!", "c!", true), some_email(false)) == filter_field::to);
    CHECK(first_failing(filter("zoë", "box", "c!", true), some_email(false)) ==
          filter_field::subject);
    CHECK(first_failing(filter("zoë", "box", "code", true), some_email(false)) ==
          filter_field::has_code);
}

TEST_CASE("what an email has in a field reads as a person would see it", "[mailbox][filter]")
{
    const auto email = some_email(false);

    CHECK(email.text(filter_field::from) == "Zoë the Robot <Robot@Sender.Example>");
    CHECK(filtered_email("a@b.example", "", {}, {}, "", false).text(filter_field::from) ==
          "a@b.example");
    CHECK(email.text(filter_field::to) == "box+Shop@mail.test, box@mail.test, List@lists.example");
    CHECK(email.text(filter_field::subject) == "Größe: your CODE");
    CHECK(email.text(filter_field::has_code) == "false");
    CHECK(to_string(filter_field::has_code) == "hasCode");
}

TEST_CASE("no two filters have one text, and spelling is no difference", "[mailbox][filter]")
{
    CHECK(filter("a").text() != filter({}, "a").text());
    CHECK(filter("a to 1:b").text() != filter("a", "b").text());
    CHECK(filter("A").text() == filter("a").text());
    CHECK(filter({}, {}, {}, true).text() != filter({}, {}, {}, false).text());
    CHECK(email_filter().text().empty());
}
