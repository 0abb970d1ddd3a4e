#include "extract/codes.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

std::vector<extract::link> in_text(const std::string& text)
{
    return extract::find_links(text, std::nullopt);
}

std::vector<extract::link> in_html(const std::string& html)
{
    return extract::find_links(std::nullopt, html);
}

} // namespace

TEST_CASE("links of a text, without the punctuation around them", "[extract]")
{
    const auto found =
        in_text("See https://a.test/x. Or (https://b.test/y_(z)), <http://c.test/>; https://a.test/x again. ftp://no.test");

    REQUIRE(found.size() == 3);
    CHECK(found[0].url == "https://a.test/x");
    CHECK(found[1].url == "https://b.test/y_(z)");
    CHECK(found[2].url == "http://c.test/");
    CHECK(in_text("://http://a.test/ ftp://b.test xhttps://c.test/ ://").size() == 2);
    CHECK(in_text("HTTPS://a.test/").size() == 1);
}

TEST_CASE("links of html, with what they say", "[extract]")
{
    const auto found = in_html("<a class=x href=\"https://a.test/?p=1&amp;q=2\">Open <b>the\n page</b></a><A "
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
        {"https://a.test/activate/9", "", "verify"},
        {"https://a.test/password/reset/9f", "", "reset"},
        {"https://a.test/x2", "Reset your password", "reset"},
        {"https://a.test/x3", "Unsubscribe", "unsubscribe"},
        {"https://a.test/email-preferences", "Settings", "unsubscribe"},
        {"https://a.test/x4", "E-Mail bestätigen", "verify"},
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
    const auto found = in_html("<a href='https://a.test/1'><img src=b.png alt=\"Reset password\"></a>");

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
