#include "gateway/dashboard/outgoing_message.hpp"

#include "common/rpc/timestamp.hpp"

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

TEST_CASE("the message about the end of an inbox says when, what then, and where to move it",
          "[gateway][outgoing_message]")
{
    inbox::v1::EndNotice notice;
    notice.set_notice_id("0194");
    notice.set_inbox_id("0193");
    notice.set_email_address("*@ci.mail.test");
    *notice.mutable_expires_at() = rpc::to_timestamp(parse_iso8601("2027-03-04T05:06:07Z").value());
    const auto sent_of = [&notice](int days, bool has_login) {
        notice.set_days(days);
        notice.set_has_login(has_login);
        return inbox_ends_message("ada@example.com", "https://mail.example/dashboard", notice);
    };

    const auto first = sent_of(3, false), last = sent_of(1, true);

    CHECK(first.to == "ada@example.com");
    CHECK(first.subject == "An inbox of yours ends within 3 days");
    CHECK_THAT(first.text, Contains("\n    *@ci.mail.test\n") &&
                               Contains("\nends at 2027-03-04T05:06:07.000Z. Its mail is deleted "
                                        "then.\n"));
    CHECK_THAT(first.text, Contains("\n    https://mail.example/dashboard/inboxes/0193\n"));
    CHECK(last.subject == "An inbox of yours ends within a day");
    CHECK_THAT(last.text, Contains("and what your application sends with its login is refused.\n"));
    CHECK(first.id == "0194");
}
