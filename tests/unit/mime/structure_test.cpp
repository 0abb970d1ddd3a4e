#include "mime/structure.hpp"

#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::has_defect;
using testing::mail;
using testing::view_of;

namespace {

// The leaves as `id=body`, separated by `|`.
std::string leaves(std::string_view text)
{
    const auto raw = mail(text);
    const auto found = mime::read_structure(raw, {});
    std::string all;
    for (const auto& one : found.parts)
        if (!one.is_multipart && !one.is_message)
            all += (all.empty() ? "" : "|") + one.id + "=" + std::string(one.body);
    return all;
}

std::string multipart(const std::string& boundary, const std::string& content)
{
    return "Content-Type: multipart/mixed; boundary=" + boundary + "\n\n" + content;
}

} // namespace

TEST_CASE("without a last boundary the last part runs to the end", "[mime][torture-14]")
{
    const auto text =
        multipart("b", "--b\n\none\n--b\nContent-Transfer-Encoding: base64\n\nAAAA\nAA");
    CHECK(leaves(text) == "1=one|2=AAAA\r\nAA");
    CHECK(has_defect(view_of(text), "missing_end_boundary"));
}

TEST_CASE("a multipart without a boundary, or whose boundary never comes, is one text",
          "[mime][torture-15]")
{
    const auto none = view_of("Content-Type: multipart/mixed\n\nhello\n--b\nx\n");
    CHECK(none.text == "hello\r\n--b\r\nx\r\n");
    CHECK(has_defect(none, "no_boundary"));

    const auto empty = view_of("Content-Type: multipart/mixed; boundary=\"\"\n\nhello\n--\nx\n");
    CHECK(empty.text == "hello\r\n--\r\nx\r\n");

    const auto unseen = view_of(multipart("b", "hello\n--c\nx\n"));
    CHECK(unseen.text == "hello\r\n--c\r\nx\r\n");
    CHECK(has_defect(unseen, "boundary_not_found"));
}

TEST_CASE("boundaries", "[mime][torture-16]")
{
    CHECK(leaves(multipart("b", "--bb\n--b\n\none\n--bb\n--b--\n")) == "1=one\r\n--bb");
    CHECK(leaves(multipart("\"b \"", "--b  \t\n\none\n--b--   \n")) == "1=one");
    CHECK(leaves(multipart("\"a\\\"=(x)\"", "--a\"=(x)\n\none\n--a\"=(x)--\n")) == "1=one");
    // RFC 5322 2.1.1: a line has at most 998 characters.
    for (const std::size_t length : {70u, 71u, 900u, 994u, 996u, 998u}) {
        const std::string one(length, 'x');
        const auto text =
            multipart("\"" + one + "\"", "--" + one + "\n\none\n--" + one + "x\n--" + one + "--\n");
        CHECK(leaves(text) == "1=one\r\n--" + one + "x");
        CHECK_FALSE(has_defect(view_of(text), "missing_end_boundary"));
        const auto inner = "Content-Type: multipart/mixed; boundary=\n " + one + "\n--" + one +
                           "\n\ntwo\n--" + one + "--\n";
        CHECK(leaves(multipart("b", "--b\n" + inner + "--b--\n")) == "1.1=two");
    }
    const std::string too_long(2'000, 'x');
    CHECK(has_defect(view_of(multipart(too_long, "--" + too_long + "\n\none\n")), "no_boundary"));

    // The same boundary inside and outside: the innermost open one wins, and is no longer open
    // after its end.
    CHECK(leaves(multipart("b", "--b\n" + multipart("b", "--b\n\ninner\n--b--\n") +
                                    "--b\n\nouter\n--b--\n")) == "1.1=inner|2=outer");
    CHECK(leaves(multipart("b", "--b\n" + multipart("b", "--b\n\none\n--b\n\ntwo\n--b--\n") +
                                    "--b--\n--b\n\nlate\n")) == "1.1=one|1.2=two");
    // An outer boundary closes what is inside.
    CHECK(leaves(multipart("o", "--o\n" + multipart("i", "--i\n\ninner\n") +
                                    "--o\n\nouter\n--o--\n")) == "1.1=inner|2=outer");
}

TEST_CASE("only an exact line is a boundary", "[mime][torture-17]")
{
    CHECK(
        leaves(multipart("b", "--b\nContent-Transfer-Encoding: base64\n\naGVs\n--bG8=\n--b--\n")) ==
        "1=aGVs\r\n--bG8=");
    CHECK(leaves(multipart(
              "b", "--b\nContent-Type: message/rfc822\n\nSubject: x\n\n--c\nin a mail\n--b--\n")) ==
          "1.1=--c\r\nin a mail");
    CHECK(leaves(multipart("b", "--b\n\n --b\n>--b\nx--b\n--b x\n--b-\n--b--")) ==
          "1= --b\r\n>--b\r\nx--b\r\n--b x\r\n--b-");
}

TEST_CASE("preamble, epilogue, no parts, parts of nothing", "[mime][torture-18]")
{
    CHECK(leaves(multipart("b", "preamble\n--b\n\none\n--b--\nepilogue\n--b\n\nlate\n")) ==
          "1=one");
    const auto none = view_of(multipart("b", "--b--\n"));
    CHECK(none.attachments.empty());
    CHECK_FALSE(none.text);
    const auto nothing = view_of(multipart("b", "--b\n--b\n\n--b\n--b--\n"));
    CHECK(nothing.attachments.empty());
}

TEST_CASE("nesting is followed to a depth of 100, what is deeper is one attachment",
          "[mime][torture-19]")
{
    std::string multiparts;
    for (int i = 0; i < 20'000; ++i)
        multiparts += multipart("b" + std::to_string(i), "--b" + std::to_string(i) + "\n");
    const auto deep = view_of(multiparts + "\nx\n");
    CHECK(has_defect(deep, "too_deep"));
    REQUIRE(deep.attachments.size() == 1);
    CHECK(deep.attachments[0].content_type == "application/octet-stream");
    const auto rest = mime::read_attachment(mail(multiparts + "\nx\n"), deep.attachments[0].id);
    REQUIRE(rest);
    CHECK(rest->starts_with("--b100\r\n"));
    CHECK(rest->ends_with("\r\nx\r\n"));

    std::string messages;
    for (int i = 0; i < 20'000; ++i)
        messages += "Content-Type: message/rfc822\n\n";
    const auto nested = view_of(messages + "Subject: x\n\nx\n");
    CHECK(has_defect(nested, "too_deep"));
    CHECK(nested.attachments.size() <= 101);
}

TEST_CASE("at most 1000 parts", "[mime][torture-20]")
{
    const auto view = view_of(multipart("b", testing::repeated("--b\n\nx\n", 100'000)));
    CHECK(has_defect(view, "too_many_parts"));
    CHECK(view.attachments.empty());
    CHECK(view.text == testing::repeated("x\r\n", 998) + "x");

    const auto ended = view_of(multipart("b", testing::repeated("--b\n\nx\n", 1'500) + "--b--\n"));
    CHECK(has_defect(ended, "too_many_parts"));
    CHECK_FALSE(has_defect(ended, "missing_end_boundary"));
}

TEST_CASE("parts past the deadline are not read", "[mime]")
{
    const auto raw = mail(multipart("b", "--b\n\none\n--b\n\ntwo\n--b--\n"));
    const auto found = mime::read_structure(raw, {}, std::chrono::steady_clock::time_point::min());
    CHECK(found.parts.size() == 1);
    CHECK(found.defects.contains("deadline"));
}

TEST_CASE("messages within, also coded ones, and what is in them", "[mime][torture-25]")
{
    const std::string inner =
        "Subject: inner\n" + multipart("i", "--i\n\ninner text\n--i\nContent-Disposition: "
                                            "attachment; filename=a.bin\n\nDATA\n--i--\n");
    const auto plain = view_of(multipart(
        "o", "--o\n\nouter text\n--o\nContent-Type: message/rfc822\n\n" + inner + "--o--\n"));
    CHECK(plain.text == "outer text");
    REQUIRE(plain.attachments.size() == 2);
    CHECK(plain.attachments[0].content_type == "message/rfc822");
    CHECK(plain.attachments[0].id == "2");
    CHECK(plain.attachments[0].filename == "unnamed-1.eml");
    CHECK(plain.attachments[1].filename == "a.bin");
    CHECK(plain.attachments[1].id == "2.1.2");

    const auto digest = view_of("Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: "
                                "one\n\nfirst\n--d\n\nSubject: two\n\nsecond\n--d--\n");
    REQUIRE(digest.attachments.size() == 2);
    CHECK(digest.attachments[1].content_type == "message/rfc822");

    const auto coded =
        view_of("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
                "U3ViamVjdDogaW5uZXINCkNvbnRlbnQtVHlwZTogYXBwbGljYXRpb24vcGRmDQoNCkRBVEE=\n");
    REQUIRE(coded.attachments.size() == 2);
    CHECK(coded.attachments[1].content_type == "application/pdf");
    CHECK(coded.attachments[1].size == 4);

    const auto report = view_of("Content-Type: multipart/report; report-type=delivery-status; "
                                "boundary=r\n\n--r\n\nNot delivered.\n--r\n"
                                "Content-Type: message/delivery-status\n\nReporting-MTA: dns; "
                                "x\n\nFinal-Recipient: rfc822; a@b\nAction: "
                                "failed\n--r--\n");
    CHECK(report.text == "Not delivered.");
    REQUIRE(report.attachments.size() == 1);
    CHECK(report.attachments[0].content_type == "message/delivery-status");

    const auto complaint =
        view_of("Content-Type: multipart/report; report-type=feedback-report; "
                "boundary=r\n\n--r\n\nA complaint.\n--r\nContent-Type: "
                "message/feedback-report\n\nFeedback-Type: abuse\n--r\nContent-Type: "
                "message/global\n\nSubject: 件\n\nx\n--r--\n");
    CHECK(complaint.text == "A complaint.");
    REQUIRE(complaint.attachments.size() == 2);
    CHECK(complaint.attachments[0].content_type == "message/feedback-report");
    CHECK(complaint.attachments[1].content_type == "message/global");

    for (const char* type : {"message/partial; id=x; number=1",
                             "message/external-body; access-type=URL; URL=\"http://x\""})
        CHECK(view_of("Content-Type: " + std::string(type) + "\n\nSubject: x\n\ny\n")
                  .attachments.size() == 1);
}

TEST_CASE("transfer encodings", "[mime][torture-13]")
{
    const auto unknown = view_of("Content-Transfer-Encoding: x-strange\n\na=20b\n");
    CHECK(unknown.text == "a=20b\r\n");
    CHECK(has_defect(unknown, "unknown_encoding"));
    CHECK(view_of("Content-Transfer-Encoding: base64 (a comment)\n\naGk=\n").text == "hi");
    CHECK(view_of("Content-Transfer-Encoding: Base64;\n\naGk=\n").text == "hi");
    CHECK(view_of("Content-Transfer-Encoding: 7bit\n\nGrüße\n").text == "Grüße\r\n");
    const auto coded =
        view_of("Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: "
                "base64\n\n--b\n\nx\n--b--\n");
    CHECK(coded.text == "x");
    CHECK(has_defect(coded, "encoded_multipart"));
}

TEST_CASE("odd content types", "[mime][torture-24]")
{
    CHECK(view_of("Content-Type: text\n\nx\n").text == "x\r\n");
    CHECK(view_of("Content-Type: text/html,charset=x\n\n<p>x</p>\n").html == "<p>x</p>\r\n");
    CHECK(view_of("Content-Type: (a) text / html (b); charset=koi8-r (c)\n\n\xc4\n").html ==
          "д\r\n");
    CHECK(view_of("Content-Type: TEXT/HTML;; charset = utf-8\n\n<p>x</p>\n").html ==
          "<p>x</p>\r\n");
    const auto twice = view_of("Content-Type: text/html\nContent-Type: text/plain\n\n<p>x</p>\n");
    CHECK(twice.text == "<p>x</p>\r\n");
    CHECK(has_defect(twice, "duplicate_content_type"));
    CHECK(twice.headers.size() == 2);
    const auto many =
        view_of("Content-Type: text/html" + testing::repeated("; a=b", 40'000) + "\n\n<p>x</p>\n");
    CHECK(many.html == "<p>x</p>\r\n");
    const auto spaced = view_of("Content-Type: application/pdf; name=my file=1.pdf\n\nx\n");
    CHECK(spaced.attachments.size() == 1);
}

TEST_CASE("what names no content type is plain text (RFC 2045 5.2)", "[mime][torture-24]")
{
    for (const char* type : {"", " ", "pdf", "/", "text/", "/plain", ";;;", "; charset=utf-8",
                             "tex t/plain", "\"text/html\"", "(html)"}) {
        INFO(type);
        const auto view = view_of("Content-Type: " + std::string(type) +
                                  "\n\n<b>Gr\xc3\xbc\xc3\x9f"
                                  "e</b>\n");
        CHECK(view.text == "<b>Grüße</b>\r\n");
        CHECK_FALSE(view.html);
        CHECK(view.attachments.empty());
        CHECK(has_defect(view, "bad_content_type"));
    }
    CHECK(view_of("Content-Type:\nContent-Transfer-Encoding: base64\n\naGk=\n").text == "hi");
    CHECK(leaves(
              multipart("b", "--b\nContent-Type: \n\none\n--b\nContent-Type: x\n\ntwo\n--b--\n")) ==
          "1=one|2=two");

    // A file stays an attachment, and so are bytes that no text has.
    const auto file =
        view_of("Content-Type: pdf\nContent-Disposition: attachment; filename=a.txt\n\nx\n");
    CHECK_FALSE(file.text);
    CHECK(file.attachments.at(0).content_type == "text/plain");
    const auto binary =
        view_of("Content-Type: pdf\nContent-Transfer-Encoding: base64\n\nJVBERgAB\n");
    CHECK_FALSE(binary.text);
    CHECK(binary.attachments.at(0).content_type == "application/octet-stream");
    CHECK(binary.attachments.at(0).size == 6);
}

TEST_CASE("a line of a text ends in CRLF, also where the mail has LF alone", "[mime][torture-30]")
{
    const auto plain = mime::read_view("Subject: x\n\none\r\ntwo\n\nthree\r\r\nfour\n");
    CHECK(plain.text == "one\r\ntwo\r\n\r\nthree\r\r\nfour\r\n");
    const auto quoted = mime::read_view(
        "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\na=0Ab=\nc\nd");
    CHECK(quoted.html == "a\nbc\r\nd");
    const auto encoded = mime::read_view("Content-Transfer-Encoding: base64\n\nYQpi\nCmM=\n");
    CHECK(encoded.text == "a\nb\nc");
}

TEST_CASE("lines may end in LF alone, a CR alone is data", "[mime][torture-30]")
{
    const std::string raw =
        "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\none\rtwo\n--b--\n";
    const auto view = mime::read_view(raw);
    CHECK(view.text == "one\rtwo");
    CHECK(has_defect(view, "bare_newline"));
    CHECK_FALSE(has_defect(view_of("Subject: x\n\ny\n"), "bare_newline"));
    const auto one_line = view_of("Subject: x\n\n" + std::string(1'000'000, 'y'));
    CHECK(one_line.text->size() == 1'000'000);
}
