#include "mime/header.hpp"

#include "common/core/text.hpp"

#include "unit/mime/mails.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::string_literals;
using testing::has_defect;
using testing::view_of;

namespace {

std::string decoded(std::string_view text, std::string_view charset = {})
{
    bool has_raw_bytes = false;
    return mime::decode_text(text, charset, has_raw_bytes);
}

std::string subject_of(const std::string& value)
{
    return view_of("Subject: " + value + "\n\nx\n").summary.subject;
}

} // namespace

TEST_CASE("a message may be empty, or lack its header or its body", "[mime][torture-1]")
{
    CHECK(has_defect(view_of(""), "no_header"));
    CHECK(has_defect(view_of(""), "no_body"));
    CHECK(view_of("").summary.subject.empty());

    const auto headers_only = view_of("Subject: hi\nFrom: a@b.test\n");
    CHECK(headers_only.summary.subject == "hi");
    CHECK(headers_only.summary.from == "a@b.test");
    CHECK(has_defect(headers_only, "no_body"));

    const auto body_only = view_of("hello world\nsecond line\n");
    CHECK(has_defect(body_only, "no_header"));
    CHECK(body_only.text == "hello world\r\nsecond line\r\n");

    const auto blank_first = view_of("\nSubject: no header\n");
    CHECK(has_defect(blank_first, "no_header"));
    CHECK(blank_first.text == "Subject: no header\r\n");

    const auto no_blank_line = view_of("Subject: hi\nThis is the body.\nSecond line.\n");
    CHECK(no_blank_line.summary.subject == "hi");
    CHECK(no_blank_line.text == "This is the body.\r\nSecond line.\r\n");
}

TEST_CASE("a line that is no field, and an mbox line", "[mime][torture-2]")
{
    const auto odd = view_of("From: a@b.test\nthis is no field\nSubject: hi\n\nx\n");
    CHECK(odd.summary.subject == "hi");
    CHECK(has_defect(odd, "bad_header_line"));
    CHECK(odd.text == "x\r\n");

    const auto mbox = view_of("From a@b.test Mon Jan  1 00:00:00 2024\nSubject: hi\n\nx\n");
    CHECK(mbox.summary.subject == "hi");
    CHECK(mbox.summary.from.empty());
    CHECK(has_defect(mbox, "mbox_line"));

    const auto spaced = view_of("From : Alice <al@x.test>\nSubject : hi\n\nx\n");
    CHECK(spaced.summary.from == "al@x.test");
    CHECK(spaced.summary.subject == "hi");
    CHECK_FALSE(has_defect(spaced, "mbox_line"));
}

TEST_CASE("folded fields become one line", "[mime][torture-3]")
{
    CHECK(subject_of("a\n\tb\n   c") == "a\tb   c");
    CHECK(subject_of("a\n  \n b") == "a   b");
    CHECK(subject_of("wo\n rd") == "wo rd");
    CHECK(decoded("=?utf-8?Q?a=0D=0Ab?=") == "a  b");
}

TEST_CASE("huge headers are cut, and the body is still found", "[mime][torture-4]")
{
    const auto many =
        view_of("Subject: hi\n" + testing::repeated("X-Y: z\n", 100'000) + "\nbody\n");
    CHECK(many.summary.subject == "hi");
    CHECK(many.headers.size() <= 1'000);
    CHECK(has_defect(many, "header_truncated"));
    CHECK(many.text == "body\r\n");

    const auto folded = view_of(
        "Subject: hi\nX-Long: " +
        testing::repeated("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n ", 30'000) + "z\n\nbody\n");
    CHECK(has_defect(folded, "header_truncated"));
    CHECK(folded.text == "body\r\n");
}

TEST_CASE("fields that the view needs are read wherever they stand", "[mime]")
{
    const std::string needed =
        "From: Ann <ann@x.test>\nTo: bob@x.test\nCc: cid@x.test\nSubject: hi\n"
        "Date: 1 Jan 2024 10:00:00 +0000\nMessage-ID: <m@x.test>\n"
        "Content-Type: text/html; charset=iso-8859-1\n"
        "Content-Transfer-Encoding: quoted-printable\n";
    const std::string long_line(5'000'000, 'x');
    const std::vector<std::pair<std::string, std::string>> fillers = {
        {"many lines", testing::repeated("X-Filler: some value\n", 10'000)},
        {"long lines", testing::repeated("X-Filler: " + std::string(900, 'x') + "\n", 10'000)},
        {"one line", "X-Filler: " + long_line + "\n"},
        {"one folded field", "X-Filler: a\n" + testing::repeated(" b\n", 500'000)},
        {"another field of many lines",
         "Bcc: " + testing::repeated("someone.else@example.test,\n ", 20'000) + "z@x.test\n"},
    };
    for (const auto& [name, filler] : fillers) {
        INFO(name);
        const auto view = view_of(filler + needed + "\n<p>Gr=FC=DFe</p>\n");
        CHECK(has_defect(view, "header_truncated"));
        CHECK(view.summary.from == "ann@x.test");
        CHECK(view.to.at(0).address == "bob@x.test");
        CHECK(view.cc.at(0).address == "cid@x.test");
        CHECK(view.summary.subject == "hi");
        CHECK(view.date);
        CHECK(view.summary.message_id == "<m@x.test>");
        CHECK(view.html == "<p>Grüße</p>\r\n");
        CHECK(view.headers.size() <= 1'011);
    }
}

TEST_CASE("1,500 recipients do not hide what follows them", "[mime]")
{
    std::string folded = "To: ", repeated, encoded = "To: ";
    for (int i = 0; i < 1'500; ++i) {
        const auto address = "box" + std::to_string(i) + "@example.test";
        folded += address + (i == 1'499 ? "\n" : ",\n ");
        encoded += "=?utf-8?Q?" + std::string(200, 'n') + "?= <" + address +
                   (i == 1'499 ? ">\n" : ">,\n ");
        repeated += "To: " + address + "\n";
    }
    for (const auto& to : {folded, repeated, encoded}) {
        const auto view = view_of(to + "Subject: hi\nContent-Type: text/html\n\n<p>x</p>\n");
        CHECK(view.summary.subject == "hi");
        CHECK(view.html == "<p>x</p>\r\n");
        CHECK(view.to.size() == 1'000);
        CHECK(view.to.back().address == "box999@example.test");
        CHECK((has_defect(view, "too_many_addresses") || has_defect(view, "header_truncated")));
    }
}

TEST_CASE("a field that the view needs is cut, and never lost", "[mime]")
{
    const std::string filler = "X-Filler: " + std::string(255'000, 'x') + "\n";
    for (const std::string& field : {"Subject: " + std::string(5'000'000, 'a'),
                                     "Subject: a" + testing::repeated("\n aaaa", 900'000),
                                     "Subject:\n " + std::string(5'000'000, 'a'),
                                     "Subject: a" + testing::repeated("ä", 2'000'000)})
        for (const auto& before : {std::string(), filler}) {
            const auto view = view_of(before + field + "\nFrom: a@b.test\nX-A: b\n\nbody\n");
            CHECK(view.summary.subject.starts_with("a"));
            CHECK(view.summary.subject.size() > 60'000);
            CHECK(view.summary.subject.size() <= (256 + 64) * 1024);
            CHECK_FALSE(has_defect(view, "8bit_header"));
            CHECK(view.summary.from == "a@b.test");
            CHECK(view.text == "body\r\n");
            CHECK(has_defect(view, "header_truncated"));
        }
}

TEST_CASE("a mark of order before the first field is no part of it", "[mime]")
{
    const auto view = view_of("\xef\xbb\xbfSubject: hi\nFrom: a@b.test\n\nx\n");
    CHECK(view.summary.subject == "hi");
    CHECK(view.headers.size() == 2);
    CHECK(view_of("\xef\xbb\xbfjust text\n").text == "just text\r\n");
}

TEST_CASE("encoded words", "[mime][torture-5]")
{
    CHECK(decoded("=?utf-8?B?SsO8cmdlbg==?=") == "Jürgen");
    CHECK(decoded("=?UTF-8?q?J=C3=BCrgen_M?=") == "Jürgen M");
    CHECK(decoded("=?utf-8?Q?a?= =?utf-8?Q?b?=") == "ab");
    CHECK(decoded("=?utf-8?Q?a?=\t  =?iso-8859-1?Q?=E4?=") == "aä");
    CHECK(decoded("x =?utf-8?Q?a?= y =?utf-8?Q?b?= z") == "x a y b z");
    CHECK(decoded("=?utf-8?Q?=E2=82?= =?utf-8?B?rA==?=") == "€");
    CHECK(decoded("=?utf-8*en?Q?a?=") == "a");
    CHECK(decoded("=?iso-2022-jp?B?GyRCJEgkOSRIGyhC?=") == "とすと");
}

TEST_CASE("a decoded field has no blanks at its ends", "[mime]")
{
    CHECK(subject_of("=?utf-8?B?Q29kZSAxMg0K?=") == "Code 12");
    CHECK(subject_of("=?utf-8?Q?=0D=0A_Code_12=20=C2=A0?= =?utf-8?Q?=E3=80=80=09?=") == "Code 12");
    CHECK(subject_of("=?utf-8?Q?=C2=A0?=").empty());
    CHECK(view_of("From: =?utf-8?Q?_Ann=0D=0A?= <a@b.test>\nX-A: =?utf-8?Q?b=20?=\n\nx\n")
              .summary.from_name == "Ann");
    CHECK(view_of("X-A: =?utf-8?Q?b=20?=\n\nx\n").headers.at(0).second == "b");
}

TEST_CASE("a byte order mark is no part of a field", "[mime]")
{
    CHECK(subject_of("=?utf-8?B?77u/aGVsbG8=?=") == "hello");
    CHECK(subject_of("=?utf-8?B?77u/aGVs?= x =?utf-8?Q?=EF=BB=BFlo?=") == "hel x lo");
    CHECK(subject_of("\xef\xbb\xbfhello") == "hello");
    CHECK(subject_of("=?utf-16?B?/v8AaABp?=") == "hi");
    CHECK(subject_of("a\xef\xbb\xbf") == "a\xef\xbb\xbf");
}

TEST_CASE("broken encoded words stay what they are", "[mime][torture-6]")
{
    for (const char* text : {"=?utf-8?Q?a b?=", "=?utf-8?B?@@@@?=", "=?utf-8?X?a?=", "=?utf-8?Q?a",
                             "=??Q?a?=", "=?", "=?=?=?", "a=?b"})
        CHECK(decoded(text) == text);
    CHECK(decoded("=?utf-8?Q?a?==?utf-8?Q?b?=") == "ab");
    CHECK(decoded("=?utf-8?B?YQ?=") == "a");
    CHECK(decoded("=?utf-8?B?SsO8 cmdlbg==?=") == "Jürgen");
    CHECK(decoded("\"=?utf-8?Q?a?=\"") == "\"a\"");
}

TEST_CASE("bytes past ASCII in a field are UTF-8, else of the mail's charset, else windows-1252",
          "[mime][torture-8]")
{
    const auto utf8 = view_of("Subject: Grüße\n\nx\n");
    CHECK(utf8.summary.subject == "Grüße");
    CHECK_FALSE(has_defect(utf8, "8bit_header"));

    const auto western = view_of("Subject: Gr\xfc\xdf\x65 \x80\n\nx\n");
    CHECK(western.summary.subject == "Grüße €");
    CHECK(has_defect(western, "8bit_header"));

    const auto russian =
        view_of("Subject: \xf0\xd2\xc9\nContent-Type: text/plain; charset=koi8-r\n\nx\n");
    CHECK(russian.summary.subject == "При");

    const auto japanese =
        view_of("Subject: \x93\xfa\x96\x7b\nContent-Type: text/plain; charset=shift_jis\n\nx\n");
    CHECK(japanese.summary.subject == "日本");
}

TEST_CASE("NUL, controls and bad UTF-8 never reach the view", "[mime][torture-29]")
{
    const auto raw = "Subject: a\0b \x01\r\nX-N\0ame: y\r\n\r\nte\0xt \xff\xed\xa0\x80\r\n"s;
    const auto view = mime::read_view(raw);
    CHECK(view.summary.subject == "a\xef\xbf\xbd"
                                  "b \x01");
    CHECK(has_defect(view, "nul"));
    REQUIRE(view.text);
    CHECK(view.text->find('\0') == std::string::npos);
    for (const auto& [name, value] : view.headers) {
        CHECK(name.find('\0') == std::string::npos);
        CHECK(value.find('\0') == std::string::npos);
    }
}

TEST_CASE("separators of lines and surrogates in a text stay text", "[mime][torture-29]")
{
    const auto view = view_of("Subject: a\xe2\x80\xa8z\nContent-Type: text/plain; "
                              "charset=utf-8\n\n\xed\xa0\x80 \xe2\x80\xa9 \x1f\n");
    CHECK(view.summary.subject == "a\xe2\x80\xa8z");
    CHECK(is_valid_utf8(view.text.value()));
    CHECK(view.text->find("\xe2\x80\xa9 \x1f") != std::string::npos);
}

TEST_CASE("dates and message ids", "[mime][torture-31]")
{
    const auto date = [](const std::string& value) {
        const auto found = view_of("Date: " + value + "\n\nx\n").date;
        return found ? to_iso8601(*found) : std::string("none");
    };
    CHECK(date("Mon, 1 Jan 2024 10:00:00 +0200") == "2024-01-01T08:00:00.000Z");
    CHECK(date("1 Jan 2024 10:00:00 GMT") == "2024-01-01T10:00:00.000Z");
    CHECK(date("1 Jan 24 10:00:00 -0000") == "2024-01-01T10:00:00.000Z");
    CHECK(date("Mon, 1 Jan 2024 10:00 EST") == "2024-01-01T15:00:00.000Z");
    CHECK(date("nonsense") == "none");
    CHECK(date("") == "none");
    CHECK(date("1 Jan 99999 10:00:00 +0000") == "none");
    CHECK(date("1 Jan 2024 10:00:00") == "2024-01-01T10:00:00.000Z");
    for (const char* odd : {"31 Feb 2024 10:00:00 +0000", "1 Jan -5 00:00:00",
                            "99 Foo 2024 99:99:99 +9999", "::::", "1"})
        date(odd);
    CHECK(view_of("\n\nx\n").date == std::nullopt);
    CHECK(view_of("Message-ID: <a b@c>\nMessage-ID: <second>\n\nx\n").summary.message_id ==
          "<a b@c>");
    CHECK_FALSE(view_of("Subject: x\n\nx\n").summary.message_id);
}

TEST_CASE("every header field is listed, decoded and in order", "[mime]")
{
    const auto view =
        view_of("Received: one\nReceived: two\nX-A: =?utf-8?Q?=C3=A4?=\nSubject: s\n\nx\n");
    REQUIRE(view.headers.size() == 4);
    CHECK(view.headers[2] == std::pair<std::string, std::string>("X-A", "ä"));
    CHECK(view.summary.received_hops == 2);
}
