#include "gateway/account_email/outgoing_message.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using Catch::Contains;

TEST_CASE("an outgoing message is RFC 5322 text with the lines of SMTP",
          "[gateway][outgoing_message]")
{
    const auto now = *parse_iso8601("2026-11-21T09:05:03Z");

    const auto message = to_rfc5322(sign_up_code_message("ada@example.com", "12345678"),
                                    "noreply@mail.example", "0193", now);

    CHECK(message.starts_with(
        "From: noreply@mail.example\r\nTo: ada@example.com\r\nSubject: Your sign-up code\r\n"));
    CHECK_THAT(message, Contains("Date: Sat, 21 Nov 2026 09:05:03 +0000\r\n"));
    CHECK_THAT(message, Contains("Message-ID: <0193@mail.example>\r\n"));
    CHECK_THAT(message, Contains("\r\n\r\n    12345678\r\n\r\n"));
    CHECK(message.find("\n\n") == std::string::npos);
}

TEST_CASE("a link holds its token where no server sees it", "[gateway][outgoing_message]")
{
    const auto sent =
        password_link_message("ada@example.com", "https://mail.example/dashboard", "token");

    CHECK_THAT(sent.text, Contains("https://mail.example/dashboard/reset-password#token\n"));
}

TEST_CASE("the message about a disabled webhook has no secrets of its URL",
          "[gateway][outgoing_message]")
{
    const auto text_for = [](const std::string& url) {
        return webhook_disabled_message("ada@example.com", "https://mail.example/dashboard", url,
                                        "0193", "it answered 410 Gone")
            .text;
    };

    CHECK_THAT(text_for("https://hooks.example/in?token=secret"),
               Contains("\n    https://hooks.example/in\n"));
    CHECK_THAT(text_for("https://hooks.example/in"),
               Contains("switched off: it answered 410 Gone."));
    CHECK_THAT(text_for("https://hooks.example/in"),
               Contains("\n    https://mail.example/dashboard/settings/webhooks/0193\n"));
    CHECK_THAT(text_for("https://hooks.example/\r\nBcc:b\xc3\xbc"),
               Contains("https://hooks.example/??Bcc:b??\n"));
    CHECK_THAT(text_for("https://hooks.example/" + std::string(2000, 'x')), Contains("xxx...\n"));
}

TEST_CASE("only addresses that stand as they are get mail", "[gateway][outgoing_message]")
{
    for (const auto* fine :
         {"ada@example.com", "a.b+c@sub.example", "o'neil_%x@xn--bcher-kva.example", "a@localhost"})
        CHECK(can_be_mailed(fine));
    for (const auto* refused :
         {"", "@example.com", "ada@", "ada", "a b@example.com", "a@b@example.com",
          "a>\r\nBcc: x@example.com", "a@example.com>", "<a@example.com", "\"a\"@example.com",
          "a,b@example.com", "a@exa_mple.com", "-f@example.com", "b\xc3\xbc@example.com",
          "a@[127.0.0.1]"})
        CHECK_FALSE(can_be_mailed(refused));
}
