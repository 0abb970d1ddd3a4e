#include "html/tags.hpp"

#include "common/runtime/thread_cpu.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace tempinbox::html;

namespace {

std::string_view first_markup(std::string_view html)
{
    return html.substr(0, markup_end(html, 0));
}

} // namespace

TEST_CASE("markup begins with a letter, a slash or a mark, nothing else", "[html]")
{
    for (const char* markup : {"<a", "</p>", "<!--", "<?xml"})
        CHECK(is_markup_at(markup, 0));
    for (const char* text : {"<3", "< p>", "<", "<é>", "a<"})
        CHECK_FALSE(is_markup_at(text, 0));
}

TEST_CASE("a tag ends at the first > that no value holds", "[html]")
{
    CHECK(first_markup("<a title=\"a > b\" href=x>y>") == "<a title=\"a > b\" href=x>");
    CHECK(first_markup("<a title = 'a > b' x>y") == "<a title = 'a > b' x>");
    CHECK(first_markup("<p it's>don't>") == "<p it's>");
    CHECK(first_markup("<a href=\"x>y") == "<a href=\"x>");
    CHECK(first_markup("</a b='>'>c") == "</a b='>'>");
    CHECK(first_markup("<a b") == "<a b");
}

TEST_CASE("comments end where browsers end them", "[html]")
{
    CHECK(first_markup("<!-- <a> -- > --> x") == "<!-- <a> -- > -->");
    CHECK(first_markup("<!--> x -->") == "<!-->");
    CHECK(first_markup("<![if !mso]>x") == "<![if !mso]>");
    CHECK(first_markup("<!-- never") == "<!-- never");
}

TEST_CASE("the first attribute of a name counts, its value decoded", "[html]")
{
    CHECK(find_attribute("<a data-href='1' HREF = \"2&amp;&#x33;\" href=4>", "href") == "2&3");
    CHECK(find_attribute("<a title=\" href='5' \" href=https://a.test/?x=y/>", "href") ==
          "https://a.test/?x=y/");
    CHECK(find_attribute("<img alt/src=x>", "alt") == "");
    CHECK_FALSE(find_attribute("<a hrefs=1 x-href=2>", "href"));
    CHECK_FALSE(find_attribute("<a", "href"));
}

TEST_CASE("the name of a tag", "[html]")
{
    CHECK(tag_name("<A\nhref>") == "a");
    CHECK(tag_name("</o:p>") == "o:p");
    CHECK(tag_name("<br/>") == "br");
    CHECK(tag_name("<!-- a -->").empty());
    CHECK(is_opening("<b>"));
    CHECK_FALSE(is_opening("</b>"));
    CHECK_FALSE(is_opening("<b/>"));
}

TEST_CASE("a walk over tags is linear, whatever quotes are left open", "[html]")
{
    const auto started = tempinbox::runtime::thread_cpu();
    for (const std::string_view unit :
         {"<a b='>'", "<a b=\"", "<a b='><a c=\">", "<!--", "</", "<a =", "<a b = ", "<script>"}) {
        std::string html;
        while (html.size() < 1'000'000)
            html += unit;
        for (const char* tail : {"", "'", "\"", ">"}) {
            html += tail;
            for (std::size_t at = 0; at < html.size();)
                at = is_markup_at(html, at) ? markup_end(html, at) : at + 1;
        }
    }
    CHECK(tempinbox::runtime::thread_cpu() - started < std::chrono::seconds(10));
}
