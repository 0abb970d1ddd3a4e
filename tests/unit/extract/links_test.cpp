#include "extract/codes.hpp"

#include "common/runtime/thread_cpu.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox;

namespace {

std::vector<extract::link> in_text(const std::string& text)
{
    return extract::find_links(text, std::nullopt);
}

std::vector<extract::link> in_html(const std::string& html)
{
    return extract::find_links(std::nullopt, html::read_visible_page(html));
}

// Of a mail with both, as a page that shows text and the text beside it.
std::vector<extract::link> in_both(const std::string& text, const std::string& html)
{
    return extract::find_links(text, html::read_visible_page(html));
}

} // namespace

TEST_CASE("links of a text, without the punctuation around them", "[extract]")
{
    const auto found = in_text("See https://a.test/x. Or (https://b.test/y_(z)), <http://c.test/>; "
                               "https://a.test/x again. ftp://no.test");

    REQUIRE(found.size() == 3);
    CHECK(found[0].url == "https://a.test/x");
    CHECK(found[1].url == "https://b.test/y_(z)");
    CHECK(found[2].url == "http://c.test/");
    CHECK(in_text("://http://a.test/ ftp://b.test xhttps://c.test/ ://").size() == 2);
    CHECK(in_text("HTTPS://a.test/").size() == 1);
}

TEST_CASE("links of html, with what they say", "[extract]")
{
    const auto found =
        in_html("<a class=x href=\"https://a.test/?p=1&amp;q=2\">Open <b>the\n page</b></a><A "
                "HREF='https://b.test/'>B</A><a href=https://c.test/>c</a>"
                "<a href=\"mailto:x@y.test\">m</a><a href=\"javascript:alert(1)\">j</a>");

    REQUIRE(found.size() == 3);
    CHECK(found[0].url == "https://a.test/?p=1&q=2");
    CHECK(found[0].text == "Open the page");
    CHECK(found[1].url == "https://b.test/");
    CHECK(found[2].url == "https://c.test/");
}

TEST_CASE("what a link is for", "[extract]")
{
    const std::vector<std::array<std::string, 3>> links = {
        {"https://a.test/verify?token=abc", "Click", "verify"},
        {"https://a.test/x1", "Confirm your email address", "verify"},
        {"https://a.test/activate/9", "<img src=x>", "verify"},
        {"https://a.test/password/reset/9f", "<img src=x>", "reset"},
        {"https://a.test/x2", "Reset your password", "reset"},
        {"https://a.test/x3", "Unsubscribe", "unsubscribe"},
        {"https://a.test/email-preferences", "Settings", "unsubscribe"},
        {"https://a.test/x5", "Update your preferences", "unsubscribe"},
        {"https://a.test/x6", "Preferences", "unsubscribe"},
        {"https://a.test/x7", "Cookie preferences", "other"},
        {"https://a.test/x4", "E-Mail bestätigen", "verify"},
        {"https://a.test/x8", "Yes, it's me", "verify"},
        {"https://a.test/x9", "No, it wasn't me", "other"},
        {"https://a.test/blog", "Read more", "other"},
    };
    for (const auto& [url, text, kind] : links) {
        INFO(url << " / " << text);
        CHECK(in_html("<a href=\"" + url + "\">" + text + "</a>").at(0).kind == kind);
    }
    CHECK(in_text("Reset your password:\nhttps://a.test/r/1\n").at(0).kind == "reset");
    CHECK(in_text("To unsubscribe click https://a.test/u/1").at(0).kind == "unsubscribe");
}

TEST_CASE("at most 200 links are kept", "[extract]")
{
    std::string text;
    for (int i = 0; i < 500; ++i)
        text += "https://a.test/" + std::to_string(i) + "\n";

    CHECK(in_text(text).size() == 200);
}

TEST_CASE("a button that is an image says what its alternative text says", "[extract]")
{
    const auto found =
        in_html("<a href='https://a.test/1'><img src=b.png alt=\"Reset password\"></a>");

    REQUIRE(found.size() == 1);
    CHECK(found[0].text == "Reset password");
    CHECK(found[0].kind == "reset");
}

TEST_CASE("East Asian text after a URL is not part of it", "[extract]")
{
    const auto found = in_text("请点击https://a.test/cz?t=77af重置密码。https://b.test/で確認）");

    REQUIRE(found.size() == 2);
    CHECK(found[0].url == "https://a.test/cz?t=77af");
    CHECK(found[1].url == "https://b.test/");
}

TEST_CASE("character references in an address are decoded", "[extract]")
{
    const auto url = [](const std::string& href) {
        return in_html("<a href=\"" + href + "\">x</a>").at(0).url;
    };

    CHECK(url("https:&#x2F;&#x2F;a.test&#x2F;verify?token&#x3D;abc") ==
          "https://a.test/verify?token=abc");
    CHECK(url("https&#58;//a.test/verify") == "https://a.test/verify");
    CHECK(url("https://a.test/?email=sam&#43;b@x.test&amp;n=O&#39;Brien") ==
          "https://a.test/?email=sam+b@x.test&n=O'Brien");
    CHECK(url("https://a.test/?a=1&copy=2&reg=3") == "https://a.test/?a=1&copy=2&reg=3");
    CHECK(url(" https://a.test/confirm?\r\n\tt=12345\n") == "https://a.test/confirm?t=12345");
}

TEST_CASE("a URL keeps the marks of its token", "[extract]")
{
    const auto url = [](const std::string& text) { return in_text(text).at(0).url; };

    CHECK(url("Verify: https://a.test/?t=abc_\n") == "https://a.test/?t=abc_");
    CHECK(url("Verify: https://a.test/?t=abc~.") == "https://a.test/?t=abc~");
    CHECK(url("some_name https://a.test/?t=abc__") == "https://a.test/?t=abc__");
    CHECK(url("* https://a.test/?t=abc*") == "https://a.test/?t=abc*");
    CHECK(url("https://a.test/?x[]") == "https://a.test/?x[]");
}

TEST_CASE("marks of emphasis around a URL are not part of it", "[extract]")
{
    for (const char* text : {"*https://a.test/c*", "**https://a.test/c**",
                             "see _https://a.test/c_.", "*Confirm: https://a.test/c*",
                             "~https://a.test/c~", "[https://a.test/c]", "(_https://a.test/c_)"})
        CHECK(in_text(text).at(0).url == "https://a.test/c");
    CHECK(in_text("_https://a.test/c__").at(0).url == "https://a.test/c_");
}

TEST_CASE("a URL in angle brackets may be broken over lines", "[extract]")
{
    const std::string whole = "https://app.test/verify?token=abcdef";
    for (const char* text :
         {"<https://app.test/verify?token=abc\ndef>",
          "Open <https://app.test/verify?token=abc\r\ndef>.",
          "<https://app.test/verify?\r\n   token=abc\r\n\tdef>",
          "  <https://app.test/verify?token=\n  abcdef>",
          "<https://app.test/verify?token=abc  \r\ndef  >",
          "<URL:https://app.test/verify?token=abc\ndef>",
          "<\nhttps://app.test/verify?token=abc\ndef\n>",
          "> <https://app.test/verify?token=abc\n> def>",
          "> > Open\n> > <https://app.test/verify?\n> > token=abc\n> > def>",
          "> <https://app.test/verify?token=abc\ndef>", "<https://app.test/verify?token=abcdef>"}) {
        INFO(text);
        const auto found = in_text(text);
        REQUIRE(found.size() == 1);
        CHECK(found[0].url == whole);
    }
    CHECK(in_text("To reset your password open\n<https://a.test/x1\n/y2>\nto go on").at(0).kind ==
          "reset");
    CHECK(in_text("<https://a.test/?t=abc.>").at(0).url == "https://a.test/?t=abc.");
}

TEST_CASE("lines that are no part of a URL are not joined to it", "[extract]")
{
    for (const char* text :
         {"https://a.test/x\ndef>", "<https://a.test/x\nwith best regards>",
          "<https://a.test/x\n\ndef", "<https://a.test/x\n1\n2\n3>", "<https://a.test/x|a\nb>",
          "<https://a.test/x\n\"def>", "<https://a.test/x\n後で>", "<https://a.test/x y\ndef>"}) {
        INFO(text);
        CHECK(in_text(text).at(0).url == "https://a.test/x");
    }
    const auto two = in_text("<https://a.test/x\n<https://b.test/y>");
    REQUIRE(two.size() == 2);
    CHECK(two[1].url == "https://b.test/y");
    CHECK(in_text("<https://a.test/x\nhttps://b.test/y>").size() == 2);
}

TEST_CASE("an apostrophe in a URL is part of it, a quote around it is not", "[extract]")
{
    const auto url = [](const std::string& text) { return in_text(text).at(0).url; };

    CHECK(url("https://wiki.test/w/King's_Gambit") == "https://wiki.test/w/King's_Gambit");
    CHECK(url("'https://wiki.test/w/King's_Gambit'.") == "https://wiki.test/w/King's_Gambit");
    CHECK(url("(see 'https://wiki.test/O'Neill')") == "https://wiki.test/O'Neill");
    CHECK(url("https://a.test/?q='x'&r=1 more") == "https://a.test/?q='x'&r=1");
    CHECK(url("open('https://a.test/x','w')") == "https://a.test/x");
    CHECK(url("'at https://a.test/x', he said") == "https://a.test/x");
    CHECK(url("''https://a.test/x''") == "https://a.test/x");
    CHECK(url("https://a.test's page") == "https://a.test");
    CHECK(url("\"https://a.test/O'Neill\"") == "https://a.test/O'Neill");
    CHECK(in_text("'https://a.test/1','https://a.test/2'").size() == 2);
}

TEST_CASE("escaped marks around a URL are no part of it", "[extract]")
{
    const auto url = [](const std::string& text) { return in_text(text).at(0).url; };

    for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{
             {"&lt;", "&gt;"},
             {"&LT;", "&GT;."},
             {"&#60;", "&#62; x"},
             {"&#x3c;", "&#x3E;"},
             {"href=&quot;", "&quot;&gt;here&lt;/a&gt;"},
             {"&#39;", "&#039;"},
             {"&apos;", "&apos;"},
             {"&amp;lt;", "&amp;gt;"},
             {"", "&nbsp;"},
             {"&lt;", "&lt;br&gt;"}}) {
        INFO(open);
        CHECK(url(open + "https://app.test/confirm/91" + close) == "https://app.test/confirm/91");
    }
    CHECK(url("&lt;https://a.test/?a=1&amp;b=2&gt;") == "https://a.test/?a=1&b=2");
    CHECK(url("https://a.test/?a=1&amp;b=2") == "https://a.test/?a=1&amp;b=2");
    CHECK(url("https://a.test/?a=1&gt=2&lt=3") == "https://a.test/?a=1&gt=2&lt=3");
    CHECK(in_text("&lt;https://a.test/1&gt;&lt;https://a.test/2&gt;").size() == 2);
    std::string long_url = "https://a.test/?";
    while (long_url.size() < 5'000)
        long_url += "&amp;ä";
    CHECK(in_text("&lt;" + long_url + "&gt;").empty());
}

TEST_CASE("the brackets of Markdown are no part of a URL", "[extract]")
{
    const auto urls = [](const std::string& text) {
        std::string all;
        for (const auto& link : in_text(text))
            all += (all.empty() ? "" : " ") + link.url;
        return all;
    };

    CHECK(urls("[a](https://a.test/x)[b](https://b.test/y)") ==
          "https://a.test/x https://b.test/y");
    CHECK(urls("[a](https://a.test/x),[b](https://b.test/y).") ==
          "https://a.test/x https://b.test/y");
    CHECK(urls("[https://a.test/x](https://b.test/y)") == "https://a.test/x https://b.test/y");
    CHECK(urls("[![logo](https://a.test/x.png)](https://b.test/y)") ==
          "https://a.test/x.png https://b.test/y");
    CHECK(urls("[a](https://a.test/x_(y))[b](https://b.test/z)") ==
          "https://a.test/x_(y) https://b.test/z");
    CHECK(urls("[a](<https://a.test/x>)") == "https://a.test/x");
    CHECK(urls("(https://a.test/x)(https://b.test/y)") == "https://a.test/x https://b.test/y");
    CHECK(urls("[1]:https://a.test/x") == "https://a.test/x");
    CHECK(urls("(see https://a.test/x_(y))") == "https://a.test/x_(y)");
    CHECK(urls("https://a.test/x_(y)_z") == "https://a.test/x_(y)_z");
    CHECK(urls("1) https://a.test/a)b(c") == "https://a.test/a)b(c");
    CHECK(urls("https://[2001:db8::1]/x [https://[2001:db8::1]/y]") ==
          "https://[2001:db8::1]/x https://[2001:db8::1]/y");
    CHECK(urls("(https://) 'https://' &lt;https://&gt;").empty());
}

TEST_CASE("punctuation of any script ends a URL", "[extract]")
{
    for (const char* mark :
         {"،",  "؛ ", "؟",  "۔",  "।", "。", "，", "、", "；",     "：",     "！",     "？",
          "」", "』", "）", "】", "’", "”",  "…",  "»",  "\u00a0", "\u200b", "\u2028", "..."}) {
        INFO(mark);
        CHECK(in_text("افتح https://a.test/verify?t=1" + std::string(mark)).at(0).url ==
              "https://a.test/verify?t=1");
    }
}

TEST_CASE("an address that is its own text is one link", "[extract]")
{
    for (const std::string url : {"https://a.test/?t=abc_", "https://a.test/?t=abc.",
                                  "https://a.test/?t=abc*", "https://a.test/a]"})
        CHECK(in_html("Verify: <a href='" + url + "'>" + url + "</a>").size() == 1);
}

TEST_CASE("a link of which nothing is seen is none, nor is one that stands in the text alone",
          "[extract]")
{
    const std::string words = "href='https://a.test/verify'>Verify your email</a>";
    for (const std::string& hidden :
         {"<p style='display:none'><a " + words, "<a style='color:#fff' " + words,
          "<noscript><a " + words + "</noscript>", "<template><a " + words + "</template>",
          "<!-- <a " + words + " -->", "<div style='font-size:0'><a " + words,
          std::string("<a href='https://a.test/verify'><img src=x width=1 height=1></a>"),
          std::string("<a href='https://a.test/verify'> </a>")}) {
        INFO(hidden);
        CHECK(in_html("<p>Hello</p>" + hidden).empty());
    }
    CHECK(in_both("Verify your email: https://a.test/verify", "<p>Hello</p>").empty());
    CHECK(in_both("Verify your email: https://a.test/verify", "<img src=x>").size() == 1);
}

TEST_CASE("a link has the words that are seen of it", "[extract]")
{
    const auto found = in_html(
        "<a href=https://a.test/c>Con<i hidden>UNSEEN</i>firm</a><p hidden>to unsubscribe</p>");

    REQUIRE(found.size() == 1);
    CHECK(found[0].text == "Confirm");
    CHECK(found[0].kind == "verify");
}

TEST_CASE("a link behind much inline data is found", "[extract]")
{
    const auto found =
        in_html("<p>Hello</p><img src='data:image/png;base64," + std::string(1'000'000, 'A') +
                "'><a href='https://a.test/verify'>Verify</a>");

    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == "verify");
}

TEST_CASE("links are resolved by the page's base, and without one by https", "[extract]")
{
    const auto url_of = [](const std::string& html) {
        const auto found = in_html(html);
        return found.empty() ? "" : found[0].url;
    };
    const std::string base = "<base href='https://a.test/b/c?d'>";

    CHECK(url_of(base + "<a href='verify?t=1'>x</a>") == "https://a.test/b/verify?t=1");
    CHECK(url_of(base + "<a href='../v'>x</a>") == "https://a.test/v");
    CHECK(url_of(base + "<a href='/v'>x</a>") == "https://a.test/v");
    CHECK(url_of(base + "<a href='//c.test/v'>x</a>") == "https://c.test/v");
    CHECK(url_of(base + "<a href='http://c.test/v'>x</a>") == "http://c.test/v");
    CHECK(url_of(base + "<a href='mailto:a@b.test'>x</a>").empty());
    CHECK(url_of(base + "<a href='#top'>x</a>").empty());
    CHECK(url_of("<a href='//c.test/v'>x</a>") == "https://c.test/v");
    CHECK(url_of("<a href='verify'>x</a>").empty());
    CHECK(url_of("<base href='javascript:x'><a href='verify'>x</a>").empty());
}

TEST_CASE("only the href of a shown anchor is a link", "[extract]")
{
    const std::string anchor = "href='https://a.test/c'>Confirm</a>";

    for (const std::string& html :
         {"<a data-href='https://evil.test/' " + anchor, "<a title='a > b' class=\"x>y\" " + anchor,
          "<a title=\" href='https://evil.test/' \" " + anchor,
          "<!-- <a href='https://old.test/'>x</a> --><a\n" + anchor,
          std::string("<style><a href='https://old.test/'></style><A HREF='https://a.test/c' "
                      "href='https://evil.test/'>Confirm</a>"),
          "<!--[if mso]><a href='https://mso.test/'>x</a><![endif]--><!--[if !mso]><!--><a " +
              anchor + "<!--<![endif]-->"}) {
        INFO(html);
        const auto found = in_html(html);
        REQUIRE(found.size() == 1);
        CHECK(found[0].url == "https://a.test/c");
        CHECK(found[0].text == "Confirm");
        CHECK(found[0].kind == "verify");
    }
    CHECK(in_html("<a name=x>Confirm</a><a href=https://a.test/").empty());
}

TEST_CASE("a link's text is what its reader sees", "[extract]")
{
    const std::vector<std::array<std::string, 3>> links = {
        {"Terms &amp; Conditions", "Terms & Conditions", "other"},
        {"Best&auml;tigen", "Bestätigen", "verify"},
        {"&#30830;&#35748;&#37038;&#31665;", "确认邮箱", "verify"},
        {"&nbsp; Verify email &nbsp;", "Verify email", "verify"},
        {"<b>V</b>erify<br>email", "Verify email", "verify"},
        {"<table><tr><td>Verify</td><td>email</td></tr></table>", "Verify email", "verify"},
        {"<div>Verify</div><div>email</div>", "Verify email", "verify"},
        {"<!--[if mso]><i>&nbsp;</i><![endif]--><span>Ver&shy;ify&zwnj;&#8203; email</span>",
         "Verify email", "verify"},
        {"\u00a0Verify\u00a0email\u200b", "Verify email", "verify"},
        {"<style>b > a{}</style>Verify 1 < 2 <3", "Verify 1 < 2 <3", "verify"},
        {"<img alt='Verify &amp; go'>", "Verify & go", "verify"},
        {"<img alt='' title='Verify'><img alt=x>", "Verify", "verify"},
    };
    for (const auto& [html, text, kind] : links) {
        const auto found = in_html("<a href='https://a.test/k'>" + html + "</a>");
        INFO(html);
        REQUIRE(found.size() == 1);
        CHECK(found[0].text == text);
        CHECK(found[0].kind == kind);
    }
}

TEST_CASE("an area of an image is a link that says its alternative text", "[extract]")
{
    const auto found = in_html(
        "<a href=https://a.test/1>One<map><area href=https://a.test/2 alt=Confirm>out</map>");

    REQUIRE(found.size() == 2);
    CHECK(found[0].text == "One");
    CHECK(found[1].text == "Confirm");
    CHECK(found[1].kind == "verify");
}

TEST_CASE("an anchor ends where the next begins", "[extract]")
{
    const auto found =
        in_html("<a href=https://a.test/1>Verify<a href=https://a.test/2>Help</abbr> me</a> out");

    REQUIRE(found.size() == 2);
    CHECK(found[0].text == "Verify");
    CHECK(found[1].text == "Help me");
}

TEST_CASE("the words around a link that only points say what it is for", "[extract]")
{
    const std::vector<std::pair<std::string, std::string>> pages = {
        {"<p>To confirm your address, <a href=https://a.test/>click here</a>.</p>", "verify"},
        {"<p>Press the button to confirm your email address:</p><p><a "
         "href=https://a.test/>Continue</a></p>",
         "verify"},
        {"<td>Please verify your email to continue.</td></tr><tr><td><a href=https://a.test/>Get "
         "started</a></td>",
         "verify"},
        {"<p>You confirmed your address.</p><p><a href=https://a.test/>Click here</a> to "
         "unsubscribe.</p>",
         "unsubscribe"},
        {"<p>Confirm your address.</p><p><a href=https://a.test/>Click here</a> for help.</p>",
         "other"},
        {"<p>Confirm your address.</p><p>Help is <a href=https://a.test/>here</a></p>", "other"},
        {"<p>Confirm your address.</p><a href=https://a.test/><img src=logo.png></a>", "other"},
        {"<p>Confirm your email by opening this address:<br><a "
         "href=https://a.test/>https://a.test/</a></p>",
         "verify"},
        {"<p>By confirming your email you agree to our <a href=https://a.test/>Terms</a>.</p>",
         "other"},
        {"<p>If you didn't request a password reset, please <a href=https://a.test/>contact "
         "support</a>.</p>",
         "other"},
    };
    for (const auto& [html, kind] : pages) {
        INFO(html);
        CHECK(in_html(html).at(0).kind == kind);
    }
}

TEST_CASE("a link seen again is judged anew by its text, not by words around its address",
          "[extract]")
{
    const std::string terms = "By confirming your email you agree to our terms (https://a.test/t).";

    CHECK(in_html("<a href=https://a.test/t>Terms</a>" + terms).at(0).kind == "other");
    CHECK(in_both(terms, "<a href=https://a.test/t><img src=x></a>").at(0).kind == "verify");
    CHECK(in_html("<a href=https://a.test/t>Acme</a><a href=https://a.test/t>Verify email</a>")
              .at(0)
              .kind == "verify");
}

TEST_CASE("finding links is linear, whatever the html is", "[extract]")
{
    const auto started = runtime::thread_cpu();
    for (const std::string_view unit : {"<a href=https://a.test>",
                                        "<a href='",
                                        "<a ",
                                        "<a href=https://a.test/>here</a> ",
                                        "<!--",
                                        "&#",
                                        "<img alt=x>",
                                        "</a",
                                        "\n",
                                        "https://a.test/___ ",
                                        "https://",
                                        "_https://a.test/*~_",
                                        "(https://a.test/)",
                                        "'http://a/'",
                                        "&lt;http://a/&gt;",
                                        "<http://a/\n",
                                        "[a](http://a/?a&b;c)",
                                        "((((http://a",
                                        "&amp;http://",
                                        "<a href=https://a.test><img title=x>",
                                        "<p>here<a href=http://a/>"}) {
        std::string input;
        while (input.size() < 1'000'000)
            input += unit;
        in_text(input);
        in_html(input);
    }
    std::string one_run;
    while (one_run.size() < 260'000)
        one_run += "(http://b&;'a" + std::to_string(one_run.size()) + ")";
    in_text(one_run);
    in_text("https://a.test/" + std::string(300'000, '_'));
    in_html("<a href='https://a.test/" + std::string(200'000, '&') + "'>");
    CHECK(runtime::thread_cpu() - started < std::chrono::seconds(10));
}
