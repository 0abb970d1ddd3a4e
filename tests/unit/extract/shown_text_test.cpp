#include "extract/shown_text.hpp"

#include "extract/candidates.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using extract::shown_text;

namespace {

std::vector<std::string> candidates_of(std::string_view text)
{
    extract::candidate_scanner scanner(text);
    std::vector<std::string> values;
    while (const auto next = scanner.next())
        values.push_back(next->value);
    return values;
}

} // namespace

TEST_CASE("digits of any script, blanks and dashes are normalized, at their offsets", "[extract]")
{
    const auto shown = shown_text::of_plain("码：４８２\u00a0٩١٣ – ५६\u200b७\r\n");

    CHECK(shown.text() == "码:482 913 - 567\n");
    CHECK(shown.offset_of(shown.text().find("482")) == 2);
    CHECK(shown.offset_of(shown.text().find("567")) == 12);
    CHECK(shown.offset_of(shown.text().find('7')) == 15);
}

TEST_CASE("an entity of two characters stands at one offset", "[extract]")
{
    const auto shown = shown_text::of_html("a&fjlig;&nGt;1&ThickSpace;2");

    CHECK(shown.text() == "afj\u226b\u20d21 2");
    CHECK(shown.offset_of(shown.text().find('f')) == 1);
    CHECK(shown.offset_of(shown.text().find('j')) == 1);
    CHECK(shown.offset_of(shown.text().find('1')) == 13);
    CHECK(shown.offset_of(shown.text().find('2')) == 26);
}

TEST_CASE("html is shown without what browsers hide, at its offsets", "[extract]")
{
    const std::string html = "<style>a{color:#123456}</style><p>Your&nbsp;code</p><!-- 9999 "
                             "--><table><tr><td>4</td><td>8</td></tr>"
                             "</table>a<b>b</b>c &eacute;&#x20AC;&bogus;";
    const auto shown = shown_text::of_html(html);

    CHECK(shown.text() == "Your code\n\n4 8\n\nabc é€&bogus;");
    CHECK(shown.offset_of(shown.text().find('4')) == html.find("4</td>"));
    CHECK(shown.offset_of(shown.text().find("bc")) == html.find("b</b>"));
}

TEST_CASE("offsets are right after characters of several bytes, invisible ones and joined blanks",
          "[extract]")
{
    const std::string text = "é\u200b€x\U0001f600y\t\r\nz";
    const auto shown = shown_text::of_plain(text);
    CHECK(shown.text() == "é€x\U0001f600y \nz");
    CHECK(shown.offset_of(shown.text().find('x')) == 3);
    CHECK(shown.offset_of(shown.text().find('y')) == 5);
    CHECK(shown.offset_of(shown.text().find('z')) == 9);

    const std::string html = "a   <br><br><br>  é <p>b</p>";
    const auto laid_out = shown_text::of_html(html);
    CHECK(laid_out.text() == "a\n\né\nb\n");
    CHECK(laid_out.offset_of(laid_out.text().find("é")) == html.find("é"));
    CHECK(laid_out.offset_of(laid_out.text().find('b')) == html.find("b</p>") - 1);
}

TEST_CASE("URLs are blotted out of the text", "[extract]")
{
    const auto shown = shown_text::of_plain("see https://a.test/verify/482913 now, 1234");

    CHECK(shown.text().find("verify") == std::string_view::npos);
    CHECK(candidates_of(shown.text()) == std::vector<std::string>{"1234"});
}

TEST_CASE("candidates have the outer form of a code", "[extract]")
{
    CHECK(candidates_of("482913 482 914 482-915") ==
          std::vector<std::string>{"482913", "482914", "482915"});
    CHECK(candidates_of("G-482913, AB3-9XZ, 4f8a-91c2, k7f2m9qd, QRW-KTP") ==
          std::vector<std::string>{"482913", "AB3-9XZ", "4f8a-91c2", "k7f2m9qd", "QRW-KTP"});
    CHECK(candidates_of("4 8 2 9 1 3") == std::vector<std::string>{"482913"});
    CHECK(candidates_of("A\nB\n3\n9\n") == std::vector<std::string>{"AB39"});
    CHECK(candidates_of("12 34 56, 1234 5678") == std::vector<std::string>{"123456", "12345678"});
    CHECK(candidates_of("12 abc 123 word 12345678901 1-2-3 utf-8").empty());
}
