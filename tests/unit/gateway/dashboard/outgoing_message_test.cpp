#include "gateway/dashboard/outgoing_message.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using Catch::Contains;

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
