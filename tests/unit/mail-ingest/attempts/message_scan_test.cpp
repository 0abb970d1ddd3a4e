#include "mail-ingest/attempts/message_scan.hpp"

#include <catch2/catch.hpp>

#include <string>

using tempinbox::mail_ingest::message_scan;

namespace {

message_scan scan(const std::string& message, std::size_t part = std::string::npos)
{
    message_scan scanned;
    for (std::size_t i = 0; i < message.size(); i += std::min(part, message.size()))
        scanned.append(std::string_view(message).substr(i, part));
    return scanned;
}

} // namespace

TEST_CASE("the Message-ID is read from the header, whatever its case and however it is folded",
          "[mail-ingest][attempts]")
{
    CHECK(scan("Subject: a\r\nMESSAGE-id :  <1@a.test> \r\n\r\nhi\r\n").message_id() ==
          "<1@a.test>");
    CHECK(scan("Message-ID:\r\n <2@a.test>\r\nSubject: a\r\n\r\n").message_id() == "<2@a.test>");
    CHECK(scan("Subject: a\nMessage-ID: <3@a.test>\n\nhi").message_id() == "<3@a.test>");
    CHECK(scan("Subject: a\r\n\r\nMessage-ID: <4@a.test>\r\n").message_id() == "");
    CHECK(scan("Message-ID: <5@a.test>\r\nMessage-ID: <6@a.test>\r\n\r\n").message_id() ==
          "<5@a.test>");
    CHECK(scan("no header at all").message_id() == "");
}

TEST_CASE("a message is scanned alike in whatever parts it comes", "[mail-ingest][attempts]")
{
    const std::string message = "Received: by a\r\nMessage-ID: <1@a.test>\r\nSubject: a\r\n b\r\n"
                                "\r\nhello\r\nworld\r\n";
    const auto whole = scan(message);

    CHECK(whole.is_relayed());
    for (std::size_t part = 1; part < message.size(); ++part) {
        const auto scanned = scan(message, part);
        CHECK(scanned.message_id() == "<1@a.test>");
        CHECK(scanned.is_relayed());
        CHECK(scanned.content() == whole.content());
    }
}

TEST_CASE("the content is that of subject and body, not of other fields", "[mail-ingest][attempts]")
{
    const auto of = [](const std::string& message) { return scan(message).content(); };

    CHECK(of("Message-ID: <1@a>\r\nSubject: a\r\n\r\nhi\r\n") ==
          of("Date: now\r\nMessage-ID: <2@a>\r\nSubject: a\r\n\r\nhi\r\n"));
    CHECK(of("Subject: a\r\n\r\nhi\r\n") != of("Subject: b\r\n\r\nhi\r\n"));
    CHECK(of("Subject: a\r\n\r\nhi\r\n") != of("Subject: a\r\n\r\nho\r\n"));
    const std::string long_body(message_scan::max_body, 'x');
    CHECK(of("\r\n" + long_body + "a") == of("\r\n" + long_body + "b"));
    CHECK(of("\r\n" + long_body + "a") != of("\r\n" + long_body + "ab"));
}

TEST_CASE("an overlong field is cut, not kept", "[mail-ingest][attempts]")
{
    const std::string value(10'000, 'i');

    CHECK(scan("Message-ID: " + value + "\r\n\r\n").message_id().size() <= message_scan::max_field);
    CHECK(scan("Message-ID: a\r\n " + value + "\r\n " + value + "\r\n\r\n").message_id().size() <=
          message_scan::max_field);
}

TEST_CASE("a header without an end is body from some line on", "[mail-ingest][attempts]")
{
    std::string header = "Message-ID: <1@app.test>\r\n";
    for (std::size_t i = 0; i < message_scan::max_header_lines; ++i)
        header += "a\n";

    const auto scanned = scan(header + "Received: from a.test\r\n\r\nhello\r\n");

    CHECK(scanned.message_id() == "<1@app.test>");
    CHECK_FALSE(scanned.is_relayed());
    CHECK(scanned.content() != scan(header + "another body\r\n").content());
}
