#include "common/mail/outgoing_message.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mail;
using Catch::Contains;

TEST_CASE("an outgoing message is RFC 5322 text with the lines of SMTP", "[mail]")
{
    const auto now = *parse_iso8601("2026-11-21T09:05:03Z");

    const auto message = to_rfc5322(outgoing_message("ada@example.com", "Your sign-up code",
                                                     "Your code is\n\n    12345678\n\nBye.\n"),
                                    "noreply@mail.example", "0193", now);

    CHECK(message.starts_with(
        "From: noreply@mail.example\r\nTo: ada@example.com\r\nSubject: Your sign-up code\r\n"));
    CHECK_THAT(message, Contains("Date: Sat, 21 Nov 2026 09:05:03 +0000\r\n"));
    CHECK_THAT(message, Contains("Message-ID: <0193@mail.example>\r\n"));
    CHECK_THAT(message, Contains("\r\n\r\n    12345678\r\n\r\n"));
    CHECK(message.find("\n\n") == std::string::npos);
}

TEST_CASE("only addresses that stand as they are get mail", "[mail]")
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
