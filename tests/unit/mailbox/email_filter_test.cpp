#include "mailbox/email_filter.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

email_summary some_email()
{
    email_summary email;
    email.from = "Anna.Straße@example.org";
    email.from_name = "ΟΔΥΣΣΕΥΣ";
    email.rcpt_to = {"Sign-Up+Tag@mail.test"};
    email.subject = "Ihr Cafe\u0301-Code";
    return email;
}

bool matches(std::optional<std::string> from, std::optional<std::string> to, std::optional<std::string> subject)
{
    return email_filter(std::move(from), std::move(to), std::move(subject)).matches(some_email(), {"All@List.example"});
}

constexpr auto none = std::nullopt;

} // namespace

TEST_CASE("the sender is matched by address or name, folded as Unicode says", "[mailbox][filter]")
{
    CHECK(matches("STRASSE@", none, none));
    CHECK(matches("οδυσσευσ", none, none));
    CHECK_FALSE(matches("strase", none, none));
}

TEST_CASE("a recipient is matched as given or in the To header", "[mailbox][filter]")
{
    CHECK(matches(none, "sign-up+TAG", none));
    CHECK(matches(none, "all@list", none));
    CHECK_FALSE(matches(none, "someone", none));
}

TEST_CASE("composed and decomposed letters are the same subject", "[mailbox][filter]")
{
    CHECK(matches(none, none, "caf\u00e9-code"));
    CHECK(matches(none, none, "IHR"));
}

TEST_CASE("all conditions must hold, and none is everything", "[mailbox][filter]")
{
    CHECK(matches("anna", "sign", "code"));
    CHECK_FALSE(matches("anna", "sign", "invoice"));
    CHECK(matches(none, none, none));
    CHECK(email_filter().is_empty());
}

TEST_CASE("no two filters have one text, and spelling is no difference", "[mailbox][filter]")
{
    CHECK(email_filter("a", none, none).text() != email_filter(none, "a", none).text());
    CHECK(email_filter("a to 1:b", none, none).text() != email_filter("a", "b", none).text());
    CHECK(email_filter("A", none, none).text() == email_filter("a", none, none).text());
    CHECK(email_filter().text().empty());
}
