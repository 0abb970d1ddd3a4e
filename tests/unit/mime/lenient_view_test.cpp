#include "common/core/text.hpp"
#include "mime/view.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

// Mails that break the rules in ways that other readers accept.

TEST_CASE("raw bytes inside an encoded word keep the charset of their word", "[mime]")
{
    const auto view = mime::read_view("Subject: x\r\nFrom: =?iso-8859-1?Q?J\xfcrgen?= "
                                      "=?iso-8859-1?Q?_M\xfcller?= <j@example.test>\r\n"
                                      "To: \"Gr\xfc\xdf"
                                      "e\" <g@example.test>, =?windows-1251?q?\xcf\xe5=F2\xf0?= "
                                      "<p@example.test>\r\n\r\nbody\r\n");

    CHECK(view.summary.from_name == "Jürgen Müller");
    REQUIRE(view.to.size() == 2);
    CHECK(view.to[0].name == "Grüße");
    CHECK(view.to[1].name == "Петр");
    CHECK(view.to[1].address == "p@example.test");
}

TEST_CASE("a content type without the semicolon before its parameters is read all the same",
          "[mime]")
{
    const auto view = mime::read_view(
        "Subject: x\r\nContent-Type: multipart/mixed\r\n\tboundary=\"edge\"\r\n\r\n--edge\r\n"
        "Content-Type: text/plain charset=iso-8859-1\r\n\r\nGr\xfc\xdf"
        "e\r\n--edge\r\n"
        "Content-Type: image/png; name=dot.png\r\n\r\nx\r\n--edge--\r\n");

    CHECK(view.text == "Grüße");
    REQUIRE(view.attachments.size() == 1);
    CHECK(view.attachments[0].filename == "dot.png");
}

TEST_CASE("a boundary right below the fields of its multipart begins the first part", "[mime]")
{
    const auto view = mime::read_view(
        "Subject: x\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\n"
        "Content-Type: multipart/alternative; boundary=inner\r\nMIME-Version: 1.0\r\n--inner\r\n"
        "Content-Type: text/plain\r\n\r\nhello\r\n--inner--\r\n--outer--\r\n");

    CHECK(view.text == "hello");
    CHECK(view.attachments.empty());
}

TEST_CASE("a zero byte within an encoded word leaves an address that cannot be read clean",
          "[mime]")
{
    const std::string word("=?x\0y?Q?=E4\xe0?=", 14);
    const auto view = mime::read_view("From: A B <a\x01@d.test, \"E, F\" <e@f.\x01test " + word +
                                      "\r\nSubject: x\r\n\r\nhello\r\n");

    CHECK(is_valid_utf8(view.summary.from));
    CHECK(view.summary.from.find('\0') == std::string::npos);
}
