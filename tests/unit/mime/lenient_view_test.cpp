#include "common/core/text.hpp"
#include "mime/view.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

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

TEST_CASE("a boundary does not make a multipart of another type", "[mime]")
{
    for (const char* body : {"<p>one</p>", "<p>one</p>\r\n--x", "\r\n-- x\r\n<p>one</p>", "--x1",
                             "text\r\n--x\r\n\r\ntwo\r\n--x--"}) {
        INFO(body);
        const auto view = mime::read_view(
            "Subject: x\r\nContent-Type: text/html; boundary=x\r\n\r\n" + std::string(body));
        CHECK(view.html == body);
        CHECK(view.attachments.empty());
    }
    const auto file = mime::read_view("Content-Type: application/pdf; boundary=x\r\n\r\nPDF");
    CHECK(file.attachments.size() == 1);
}

TEST_CASE("a body that begins with its boundary is a multipart, whatever its type says", "[mime]")
{
    for (const char* type :
         {"text/html", "text/plain", "multipart", "application/octet-stream", ""}) {
        INFO(type);
        const auto view = mime::read_view("Subject: x\r\nContent-Type: " + std::string(type) +
                                          "; boundary=\"x\"\r\n\r\n\r\n--x\r\n\r\none\r\n--x\r\n"
                                          "Content-Type: text/html\r\n\r\n<p>two</p>\r\n--x--\r\n");
        CHECK(view.text == "one");
        CHECK(view.html == "<p>two</p>");
        CHECK(view.attachments.empty());
    }
    const auto preamble =
        mime::read_view("Subject: x\r\nContent-Type: text/html; boundary=x\r\n\r\nThis is a "
                        "message in MIME.\r\n\r\n"
                        "--x\r\nContent-Type: text/html\r\n\r\n<p>one</p>\r\n--x--\r\n");
    CHECK(preamble.html == "<p>one</p>");
}

TEST_CASE("a parameter that begins a line belongs to the field above it", "[mime]")
{
    const std::string parts = "\r\n\r\n--a:b\r\n\r\none\r\n--a:b\r\nContent-Type: "
                              "application/pdf;\r\nname=x.pdf\r\n\r\nx\r\n--a:b--\r\n";
    for (const char* field :
         {"Content-Type: multipart/mixed;\r\nboundary=\"a:b\"",
          "Content-Type: multipart/mixed\r\nboundary=\"a:b\"",
          "Content-Type: multipart/mixed\r\n; boundary=\"a:b\"",
          "Content-Type: multipart/mixed; charset=utf-8\r\nboundary=\"a:b\"",
          "Content-Type: multipart/mixed;\r\n\tcharset=utf-8;\r\nboundary = \"a:b\"",
          "Content-Type: multipart/mixed;\r\nx-own=1;\r\nboundary*0=\"a:\";\r\nboundary*1=b"}) {
        INFO(field);
        const auto view = mime::read_view(std::string(field) + "\r\nSubject: s" + parts);
        CHECK(view.text == "one");
        REQUIRE(view.attachments.size() == 1);
        CHECK(view.attachments[0].filename == "x.pdf");
        CHECK(view.summary.subject == "s");
        CHECK(std::count(view.defects.begin(), view.defects.end(), "bad_header_line") == 1);
    }

    // Lines that are no parameters, or not of such a field.
    const auto other = mime::read_view("Content-Type: text/html;\r\nX=1: a\r\n\r\n<p>x</p>\r\n");
    CHECK(other.html == "<p>x</p>\r\n");
    const auto subject = mime::read_view("Subject: a;\r\nname=b\r\nFrom: a@b.test\r\n\r\nx\r\n");
    CHECK(subject.summary.subject == "a;");
    CHECK(subject.summary.from == "a@b.test");
}
