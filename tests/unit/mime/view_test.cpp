#include "unit/mime/mails.hpp"

#include "common/runtime/thread_cpu.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox;
using testing::has_defect;
using testing::mail;
using testing::view_of;

namespace {

std::string mixed(const std::string& parts)
{
    return "Content-Type: multipart/mixed; boundary=b\n\n" + parts + "--b--\n";
}

std::string attachment_name(const std::string& fields)
{
    return view_of(mixed("--b\n\ntext\n--b\nContent-Type: application/pdf\n" + fields + "\n\nx\n"))
        .attachments.at(0)
        .filename;
}

std::string with_filename(const std::string& parameter)
{
    return attachment_name("Content-Disposition: attachment; " + parameter);
}

} // namespace

TEST_CASE("file names over RFC 2231", "[mime][torture-7]")
{
    CHECK(with_filename("filename*=utf-8''r%C3%A9sum%C3%A9.pdf") == "résumé.pdf");
    CHECK(with_filename("filename*0*=utf-8''r%C3%A9s; filename*1=ume.pdf") == "résume.pdf");
    CHECK(with_filename("filename*1=b.pdf; filename*0=a") == "ab.pdf");
    CHECK(with_filename("filename=plain.pdf; filename*=utf-8''starred.pdf") == "starred.pdf");
    CHECK(with_filename("filename*=utf-8''starred.pdf; filename=plain.pdf") == "starred.pdf");
    CHECK(with_filename("filename=\"=?utf-8?Q?r=C3=A9sum=C3=A9.pdf?=\"") == "résumé.pdf");
    CHECK(with_filename("filename*0=a; filename*2=c.pdf") == "a");
    CHECK(with_filename("filename*=bogus''r%E9s.pdf") == "rés.pdf");
    CHECK(attachment_name("Content-Type: application/pdf; name*=utf-8''r%C3%A9s.pdf") == "rés.pdf");
    CHECK(attachment_name("Content-Description: x") == "unnamed-1.pdf");
}

TEST_CASE("shown names are safe", "[mime][torture-23]")
{
    CHECK(with_filename("filename=\"../../etc/passwd\"") == "passwd");
    CHECK(with_filename("filename=\"C:\\\\dir\\\\x.exe\"") == "x.exe");
    CHECK(with_filename("filename=\"C:\\Users\\sam\\x.doc\"") == "x.doc");
    CHECK(with_filename("filename=\"unterminated.pdf") == "unterminated.pdf");
    CHECK(with_filename("filename*=utf-8''a%D8%9Cb.txt") == "ab.txt");
    CHECK(with_filename("filename*=utf-8''a%00b%0d%0a.txt").find('\n') == std::string::npos);
    CHECK(with_filename("filename*=utf-8''gpj.%E2%80%AEexe") == "gpj.exe");
    CHECK(with_filename("filename=\"\"") == "unnamed-1.pdf");
    CHECK(with_filename("filename=\"..\"") == "unnamed-1.pdf");
    CHECK(with_filename("filename=\"/\"") == "unnamed-1.pdf");
    const auto long_name = with_filename("filename=\"" + testing::repeated("ä", 5'000) + ".docx\"");
    CHECK(long_name.size() <= 255);
    CHECK(long_name.ends_with(".docx"));
    CHECK(with_filename("filename=\"" + std::string(10'000, 'x') + "\"").size() == 255);
    CHECK(with_filename("filename=\"a\tb\x01.txt\"") == "ab.txt");

    const auto twins =
        view_of(mixed("--b\nContent-Disposition: attachment; filename=a.txt\n\none\n"
                      "--b\nContent-Disposition: attachment; "
                      "filename=a.txt\n\ntwo\n--b\nContent-Type: image/png\n\nthree\n"));
    REQUIRE(twins.attachments.size() == 3);
    CHECK(twins.attachments[0].filename == twins.attachments[1].filename);
    CHECK(twins.attachments[0].id != twins.attachments[1].id);
    CHECK(twins.attachments[2].filename == "unnamed-3.png");
}

TEST_CASE("the text and the html of a mail", "[mime][torture-21]")
{
    const auto all =
        view_of("Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: "
                "multipart/related; boundary=r\n\n--r\n"
                "Content-Type: multipart/alternative; "
                "boundary=a\n\n--a\n\nplain\n--a\nContent-Type: text/html\n\n<p>html</p>\n--a\n"
                "Content-Type: text/calendar\n\nBEGIN:VCALENDAR\n--a--\n--r\nContent-Type: "
                "image/png\nContent-ID: <logo@x>\n"
                "Content-Disposition: inline; filename=logo.png\nContent-Transfer-Encoding: "
                "base64\n\niVBORw==\n--r--\n--m\n"
                "Content-Type: application/pdf; name=a.pdf\nContent-Disposition: "
                "attachment\n\nPDF\n--m--\n");
    CHECK(all.text == "plain");
    CHECK(all.html == "<p>html</p>");
    CHECK_FALSE(all.is_text_derived);
    REQUIRE(all.attachments.size() == 3);
    CHECK(all.attachments[0].content_type == "text/calendar");
    CHECK(all.attachments[1].content_id == "logo@x");
    CHECK(all.attachments[1].is_inline);
    CHECK(all.attachments[1].size == 4);
    CHECK_FALSE(all.attachments[2].is_inline);
    CHECK(all.attachments[2].filename == "a.pdf");
    CHECK(all.summary.attachment_count == 3);

    const auto html_only = view_of("Content-Type: text/html\n\n<h1>Hello</h1><p>a &amp; "
                                   "b&nbsp;c<br>d</p><script>alert(1)</script>\n");
    CHECK(html_only.is_text_derived);
    CHECK(html_only.text == "Hello\n\na & b c\nd");
    CHECK(html_only.summary.preview == "Hello a & b c d");

    const auto empty_text = view_of("Content-Type: multipart/alternative; boundary=a\n\n--a\n\n "
                                    "\n--a\nContent-Type: text/html\n\n<p>x</p>\n--a--\n");
    CHECK(empty_text.text == "x");

    const auto attached_text = view_of(mixed("--b\nContent-Type: text/plain\nContent-Disposition: "
                                             "attachment; filename=log.txt\n\nlog\n--b\n\nbody\n"));
    CHECK(attached_text.text == "body");
    CHECK(attached_text.attachments.size() == 1);

    const auto amp = view_of(
        "Content-Type: multipart/alternative; boundary=a\n\n--a\n\nplain\n--a\nContent-Type: "
        "text/x-amp-html\n\n<html amp4email>\n--a\nContent-Type: "
        "text/html\n\n<p>html</p>\n--a--\n");
    CHECK(amp.html == "<p>html</p>");
    CHECK(amp.attachments.empty());

    const auto root_attachment = view_of("Content-Type: application/pdf; name=x.pdf\n\nPDF\n");
    CHECK_FALSE(root_attachment.text);
    CHECK(root_attachment.attachments.at(0).id == "1");
}

TEST_CASE("the text of a mail that is HTML alone has nothing that nobody sees", "[mime]")
{
    const auto view = mime::read_view(
        "Content-Type: text/html\r\n\r\n<div style='display:none'>preheader</div><!-- c -->"
        "<noscript>n</noscript><p style='color:#fff'>white</p><p>Hello</p>");

    CHECK(view.text == "Hello");
    CHECK(view.summary.preview == "Hello");
    REQUIRE(view.page);
    CHECK(view.page->shows_text);
}

TEST_CASE("a text part that has a name is the body where nothing else is", "[mime]")
{
    const auto alone =
        view_of("Content-Type: text/plain; name=body.txt\nContent-Disposition: inline\n\n"
                "hello\n");
    CHECK(alone.text == "hello\r\n");
    CHECK(alone.attachments.empty());

    const auto first =
        view_of(mixed("--b\nContent-Type: text/html; name=body.html\nContent-Disposition: "
                      "inline; filename=body.html\n\n<p>hello</p>\n"
                      "--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n"));
    CHECK(first.html == "<p>hello</p>");
    CHECK(first.text == "hello");
    CHECK(first.attachments.size() == 1);

    const auto behind_file = view_of(mixed("--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n"
                                           "--b\nContent-Type: text/plain; name=body.txt\n"
                                           "Content-Disposition: inline\n\nhello\n"));
    CHECK(behind_file.text == "hello");
    CHECK(behind_file.attachments.size() == 1);

    const auto related =
        view_of("Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: "
                "text/html; name=mail.htm\n\n<img src=cid:i>\n--b\nContent-Type: "
                "image/png; name=i.png\nContent-ID: <i>\n\nx\n--b--\n");
    CHECK(related.html == "<img src=cid:i>");
    CHECK(related.attachments.size() == 1);

    const auto attached = view_of("Content-Type: text/plain; name=log.txt\nContent-Disposition: "
                                  "attachment\n\nlog\n");
    CHECK_FALSE(attached.text);
    CHECK(attached.attachments.size() == 1);
}

TEST_CASE("alternatives are the body, whatever names they have", "[mime]")
{
    for (const char* kind : {"alternative", "mixed"}) {
        INFO(kind);
        const auto view = view_of("Content-Type: multipart/" + std::string(kind) +
                                  "; boundary=b\n\n--b\nContent-Type: text/plain; "
                                  "name=a.txt\nContent-Disposition: inline; "
                                  "filename=a.txt\n\nplain\n--b\nContent-Type: text/html; "
                                  "name=a.html\nContent-Disposition: "
                                  "inline\n\n<p>html</p>\n--b--\n");
        CHECK(view.text == "plain");
        CHECK(view.html == "<p>html</p>");
        CHECK(view.attachments.empty());
        CHECK_FALSE(view.is_text_derived);
    }
    const auto poorer =
        view_of("Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: "
                "text/html\n\n<p>poor</p>\n--b\nContent-Type: text/html\n\n<p>rich</p>\n"
                "--b--\n");
    CHECK(poorer.html == "<p>rich</p>");
    CHECK(poorer.attachments.empty());
}

TEST_CASE("further inline texts are shown one below the other", "[mime]")
{
    const auto pages =
        view_of(mixed("--b\nContent-Type: text/html\n\n<p>one</p><!-- open\n"
                      "--b\nContent-Type: text/html\nContent-Disposition: inline\n\n<p>two</p>\n"
                      "--b\nContent-Type: text/html\n\n \n"));
    CHECK(pages.html == "<p>one</p><!-- open\r\n<p>two</p>");
    CHECK(pages.text == "one\r\ntwo");
    CHECK(pages.is_text_derived);
    CHECK(pages.attachments.empty());

    const auto texts =
        view_of(mixed("--b\n\none\n\n--b\nContent-Type: image/png\n\nx\n--b\n\ntwo\n--b\n"
                      "Content-Type: text/plain; name=notes.txt\n\nnotes\n--b\n"
                      "Content-Disposition: attachment\n\nfile\n"));
    CHECK(texts.text == "one\r\ntwo");
    CHECK_FALSE(texts.html);
    CHECK(texts.attachments.size() == 3);

    // A list's footer below both alternatives.
    const std::string alternatives =
        "--b\nContent-Type: multipart/alternative; boundary=a\n\n--a\n\nplain\n--a\nContent-Type: "
        "text/html\n\n<p>html</p>\n--a--\n";
    const auto footer = view_of(mixed(alternatives + "--b\n\n<list> & more\n"));
    CHECK(footer.text == "plain\r\n<list> & more");
    CHECK(footer.html == "<p>html</p>\r\n<pre style=\"white-space:pre-wrap\">&lt;list&gt; &amp; "
                         "more</pre>");
    CHECK_FALSE(footer.is_text_derived);
    const auto page_below =
        view_of(mixed(alternatives + "--b\nContent-Type: text/html\n\n<p>two</p>\n"));
    CHECK(page_below.text == "plain\r\ntwo");
    CHECK(page_below.html == "<p>html</p>\r\n<p>two</p>");
    const auto text_below =
        view_of(mixed("--b\nContent-Type: text/html\n\n<p>html</p>\n--b\n\nfooter\n"));
    CHECK(text_below.text == "html\r\nfooter");

    // A file between two pages of one alternative.
    const auto nested = view_of(
        "Content-Type: multipart/alternative; boundary=a\n\n--a\n\nplain\n--a\n" +
        mixed(
            "--b\nContent-Type: text/html\n\n<p>one</p>\n--b\nContent-Type: application/pdf\n\nx\n"
            "--b\nContent-Type: text/html\n\n<p>two</p>\n") +
        "--a--\n");
    CHECK(nested.text == "plain");
    CHECK(nested.html == "<p>one</p>\r\n<p>two</p>");
    CHECK(nested.attachments.size() == 1);

    // Programs that say mixed and mean alternative.
    const auto pair =
        view_of(mixed("--b\n\nplain\n--b\nContent-Type: text/html\n\n<p>html</p>\n--b\n"
                      "Content-Type: application/pdf\n\nx\n"));
    CHECK(pair.text == "plain");
    CHECK(pair.html == "<p>html</p>");
}

TEST_CASE("texts below each other are bounded together", "[mime]")
{
    mime::view_limits limits;
    limits.text_bytes = 100;
    const auto view = mime::read_view(
        mail(mixed(testing::repeated("--b\nContent-Type: text/html\n\n<p>page</p>\n", 50))),
        limits);
    CHECK(view.html->size() <= 100);
    CHECK(view.text->size() <= 100);
    CHECK(has_defect(view, "text_truncated"));
}

TEST_CASE("html without a charset of its part is read by the one it says itself",
          "[mime][torture-9]")
{
    const std::string page = "<meta charset=windows-1251><p>\xcf\xf0</p>\n";
    CHECK(view_of("Content-Type: text/html\n\n" + page).html ==
          "<meta charset=windows-1251><p>Пр</p>\r\n");
    CHECK(view_of("Content-Type: text/html; charset=iso-8859-1\n\n" + page).html ==
          "<meta charset=windows-1251><p>Ïð</p>\r\n");
    CHECK(view_of("Content-Type: text/html\n\n<meta charset=gbk><p>ä</p>\n").html ==
          "<meta charset=gbk><p>ä</p>\r\n");
    CHECK(view_of("Content-Type: text/html\n\n<p>\xe4</p>\n").html == "<p>ä</p>\r\n");
}

TEST_CASE("a byte order mark is no part of a text, and names its charset", "[mime]")
{
    const std::string mark = "\xef\xbb\xbf";
    const auto plain = view_of("Subject: x\n\n" + mark + "hello\n");
    CHECK(plain.text == "hello\r\n");
    CHECK(plain.summary.preview == "hello");
    const auto html = view_of("Content-Type: text/html\n\n" + mark + mark + "<p>hello</p>\n");
    CHECK(html.html == "<p>hello</p>\r\n");
    CHECK(html.text == "hello");

    const auto inside = view_of("Content-Type: text/html\n\n<body>" + mark + "<p>hello</p>\n");
    CHECK(inside.text == "hello");

    const auto in = [](const std::string& charset, const std::string& base64) {
        return view_of("Content-Type: text/plain; charset=" + charset +
                       "\nContent-Transfer-Encoding: base64\n\n" + base64 + "\n")
            .text;
    };
    CHECK(in("iso-8859-1", "77u/w6Q=") == "ä"); // UTF-8
    CHECK(in("utf-8", "/v8AaABp") == "hi");     // UTF-16BE
    CHECK(in("utf-8", "//5oAGkA") == "hi");     // UTF-16LE
    CHECK(in("utf-16le", "//5oAGkA") == "hi");  // the same, as labeled
    CHECK(in("utf-32", "//4AAGgAAAA=") == "h"); // UTF-32LE begins like UTF-16LE
    CHECK(in("utf-32le", "//4AAGgAAAA=") == "h");

    const auto attached =
        mail(mixed("--b\n\n" + mark + "a\n--b\nContent-Type: text/csv\n\n" + mark + "b\n"));
    CHECK(mime::read_view(attached).text == "a");
    CHECK(mime::read_attachment(attached, "2") == mark + "b");
}

TEST_CASE("cid links of the html stay as they were sent", "[mime][torture-22]")
{
    const auto view = view_of(
        "Content-Type: multipart/related; boundary=r; start=\"<root>\"\n\n--r\nContent-Type: "
        "text/html\nContent-ID: <root>\n\n"
        "<img src=\"cid:a%40b\">\n--r\nContent-Type: image/png\nContent-ID: a@b\n\nx\n--r--\n");
    CHECK(view.html == "<img src=\"cid:a%40b\">");
    CHECK(view.attachments.at(0).content_id == "a@b");

    // The root need not be the first (RFC 2387 3.2).
    const std::string last = "--r\nContent-Type: text/html\nContent-ID: "
                             "<frame>\n\n<p>frame</p>\n--r\nContent-Type: image/png\n"
                             "Content-ID: a@b\n\nx\n--r\nContent-Type: text/html\nContent-ID: "
                             "<root>\n\n<p>root</p>\n--r--\n";
    const auto root_last =
        view_of("Content-Type: multipart/related; boundary=r; start=\"<root>\"\n\n" + last);
    CHECK(root_last.html == "<p>root</p>");
    REQUIRE(root_last.attachments.size() == 2);
    CHECK(root_last.attachments[0].content_id == "frame");
    const auto no_such_root =
        view_of("Content-Type: multipart/related; boundary=r; start=\"<gone>\"\n\n" + last);
    CHECK(no_such_root.html == "<p>frame</p>");

    // One that is used twice, one that is not used, one that does not exist.
    const auto images = view_of("Content-Type: multipart/related; boundary=r\n\n--r\nContent-Type: "
                                "text/html\n\n<img src=\"cid:x\"><img "
                                "src=\"cid:gone\">\n--r\nContent-Type: image/png\nContent-ID: "
                                "<x>\n\n1\n--r\nContent-Type: image/png\nContent-ID: "
                                "<x>\nContent-Location: http://a.test/\n\n2\n--r\nContent-Type: "
                                "image/png\nContent-ID: <unused>\n\n3\n--r--\n");
    CHECK(images.html == "<img src=\"cid:x\"><img src=\"cid:gone\">");
    REQUIRE(images.attachments.size() == 3);
    CHECK(images.attachments[1].content_id == "x");
    CHECK(images.attachments[2].is_inline);
}

TEST_CASE("sealed and odd formats are attachments, bytes unchanged", "[mime][torture-26]")
{
    const std::string text =
        "Content-Type: multipart/signed; boundary=s; "
        "protocol=\"application/pgp-signature\"\n\n--s\nContent-Type: text/plain\n\nsigned  \n--s\n"
        "Content-Type: application/pgp-signature\n\nSIG\n--s--\n";
    const auto signed_mail = view_of(text);
    CHECK(signed_mail.text == "signed  ");
    CHECK(signed_mail.attachments.at(0).content_type == "application/pgp-signature");
    CHECK(mime::read_attachment(mail(text), signed_mail.attachments[0].id) == "SIG");

    const auto tnef = view_of("Content-Type: application/ms-tnef; name=winmail.dat\n\nx\n");
    CHECK(tnef.attachments.at(0).filename == "winmail.dat");
    const auto uuencoded = view_of("Subject: x\n\nbegin 644 a.txt\n#86)C\n`\nend\n");
    const auto yenc =
        view_of("Subject: x\n\n=ybegin line=128 size=3 name=a\n=y\xff\n=yend size=3\n");
    CHECK(yenc.text->starts_with("=ybegin"));
    CHECK(yenc.attachments.empty());
    const auto clear_signed =
        view_of("Subject: x\n\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- -- hi\n");
    CHECK(clear_signed.text ==
          "-----BEGIN PGP SIGNED MESSAGE-----\r\nHash: SHA256\r\n\r\n- -- hi\r\n");
    const auto sealed =
        view_of("Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\n"
                "Content-Transfer-Encoding: base64\n\nMIAG\n");
    CHECK_FALSE(sealed.text);
    CHECK(sealed.attachments.at(0).filename == "smime.p7m");
    const auto apple = view_of(mixed(
        "--b\nContent-Type: multipart/appledouble; boundary=d\n\n--d\nContent-Type: "
        "application/applefile\n\nfork\n--d\nContent-Type: image/png; name=a.png\n\npng\n--d--\n"));
    CHECK(apple.attachments.size() == 2);
    CHECK(uuencoded.text == "begin 644 a.txt\r\n#86)C\r\n`\r\nend\r\n");
}

TEST_CASE("html becomes text in one pass, whatever it is", "[mime][torture-32]")
{
    const auto text = [](const std::string& html) {
        return view_of("Content-Type: text/html\n\n" + html).text.value();
    };
    CHECK(text("<style>p{}</style>a<!-- b -->c<title>t</title>") == "ac");
    CHECK(text("<p>one</p><p>two</p><ul><li>x<li>y</ul>") == "one\n\ntwo\n\nx\ny");
    CHECK(text("a<script>never closed") == "a");
    CHECK(text("1 < 2 &lt; 3 &bogus; &#8364; &#x20AC; &#0;") ==
          "1 < 2 < 3 &bogus; € € \xef\xbf\xbd");
    CHECK(text("<a title=\"a > b\">x</a>") == "x");
    CHECK(text("<") == "<");
    CHECK(text("<meta http-equiv=refresh content=\"0;url=http://x.test\"><form action=x><input "
               "value=y>z</form>") == "z");
    CHECK(text("<a href=\"javascript:alert(1)\">j</a><p "
               "style=\"width:expression(x)\">p</p><svg><text>s</text></svg>") == "j\np");
    const auto sent =
        view_of("Content-Type: text/html\n\n<img src=http://a.test/x><script>x</script>");
    CHECK(sent.html == "<img src=http://a.test/x><script>x</script>");
    CHECK(text(testing::repeated("<table><tr><td>cell", 300'000)).size() <=
          mime::view_limits{}.text_bytes);
    const auto started = runtime::thread_cpu();
    for (const char* unit : {"<table><tr><td>", "<", "<!--", "&", "<a href=\"", "<script>", "&#",
                             "<div ", "</", "a<b>"})
        text(testing::repeated(unit, 500'000));
    CHECK(runtime::thread_cpu() - started < std::chrono::seconds(20));
}

TEST_CASE("the preview is the beginning of the text on one line", "[mime]")
{
    CHECK(view_of("Subject: x\n\n  Hello\n\n\tworld  \n").summary.preview == "Hello world");
    const auto long_text =
        view_of("Subject: x\n\n" + testing::repeated("ä€ ", 500) + "\n").summary.preview;
    CHECK(long_text == testing::repeated("ä€ ", 66) + "ä€");
    const auto widest =
        view_of("Subject: x\n\n" + testing::repeated("\U0001f600", 250) + "\n").summary.preview;
    CHECK(widest == testing::repeated("\U0001f600", 200));
    CHECK(view_of("Subject: x\n\n").summary.preview.empty());
}

TEST_CASE("attachments are read by their ids", "[mime]")
{
    const auto raw = mail(mixed("--b\n\ntext\n--b\nContent-Type: application/x; "
                                "name=a\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n--b\n"
                                "Content-Type: message/rfc822\n\nSubject: inner\n\nhi\n"));
    const auto view = mime::read_view(raw);
    REQUIRE(view.attachments.size() == 2);
    CHECK(mime::read_attachment(raw, view.attachments[0].id) == "hello");
    CHECK(mime::read_attachment(raw, view.attachments[1].id) == "Subject: inner\r\n\r\nhi");
    CHECK(view.attachments[1].size == 20);
    for (const char* id : {"", "9", "1.1", "x", "2 "})
        CHECK_FALSE(mime::read_attachment(raw, id));
}

TEST_CASE("long texts are cut at a character", "[mime]")
{
    mime::view_limits limits;
    limits.text_bytes = 100;
    const auto view = mime::read_view(mail("Subject: x\n\n" + testing::repeated("€", 100)), limits);
    CHECK(view.text->size() == 99);
    CHECK(has_defect(view, "text_truncated"));

    // Four bytes a character, and bytes that are no character.
    const auto wide = mime::read_view(mail("Content-Type: text/plain; charset=utf-32be\n\n") +
                                          std::string(1'000, '\x01'),
                                      limits);
    CHECK(wide.text->size() <= 100);
    CHECK(has_defect(wide, "text_truncated"));
    const auto nothing = mime::read_view(
        mail("Content-Type: text/plain; charset=hz\n\n" + testing::repeated("~}", 500)), limits);
    CHECK(nothing.text == "");
    CHECK(has_defect(nothing, "text_truncated"));
}

TEST_CASE("any cut and any damaged byte of a mail can be read", "[mime]")
{
    const auto raw =
        mail("From: =?utf-8?q?a?= <a@b.test>\nTo: x:a@b,c@d;\nSubject: =?utf-8?B?w6Q=?=\nDate: "
             "Mon, 1 Jan 2024 10:00:00 +0000\n"
             "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: text/html; "
             "charset=gb2312\nContent-Transfer-Encoding: "
             "quoted-printable\n\n<p>=C4=E3</p>\n--b\nContent-Type: message/rfc822\n\nSubject: "
             "i\n\nx\n--b\nContent-Disposition: "
             "attachment;\n"
             " filename*0*=utf-8''%C3; filename*1*=%A4\nContent-Transfer-Encoding: "
             "base64\n\naGk=\n--b--\n");
    for (std::size_t cut = 0; cut <= raw.size(); ++cut)
        mime::read_view(std::string_view(raw).substr(0, cut));
    for (std::size_t at = 0; at < raw.size(); ++at) {
        for (const char c : {'\0', '\n', '-', '"', '\xff', '='}) {
            auto damaged = raw;
            damaged[at] = c;
            mime::read_view(damaged);
        }
    }
    SUCCEED();
}
