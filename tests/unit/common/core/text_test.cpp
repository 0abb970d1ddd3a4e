#include "common/core/text.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("UTF-8 is judged as RFC 3629 does", "[core]")
{
    for (const auto* good :
         {"", "plain", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
          "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        CAPTURE(good);
        CHECK(is_valid_utf8(good));
    }
    for (const auto* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                            "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
                            "\xc3", "\xe2\x82", "\xf0\x9f\x98", "a\xc3z"})
        CHECK_FALSE(is_valid_utf8(bad));
    CHECK(is_valid_utf8(std::string_view("\0", 1)));
}

TEST_CASE("text is cleaned for PostgreSQL", "[core]")
{
    CHECK(to_clean_utf8("é\xff!") == "é\xef\xbf\xbd!");
    CHECK(to_clean_utf8(std::string_view("a\0b", 3)) == "a\xef\xbf\xbd"
                                                        "b");
    CHECK(to_clean_utf8("\xe2\x82") == "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(is_valid_utf8(to_clean_utf8("\xed\xa0\x80\xf4\x90\x80\x80")));
}

TEST_CASE("characters are code points", "[core]")
{
    CHECK(count_characters("aé😀") == 3);
    CHECK(take_characters("aé😀z", 2) == "aé");
    CHECK(take_characters("aé", 5) == "aé");
    CHECK(take_characters("aé", 0).empty());
    CHECK(take_bytes("aé😀", 3) == "aé");
    CHECK(take_bytes("aé😀", 2) == "a");
    CHECK(take_bytes("aé😀", 6) == "aé");
    CHECK(take_bytes("aé😀", 7) == "aé😀");
}

TEST_CASE("what is quoted in messages is short and harmless", "[core]")
{
    CHECK(quote("soon") == "\"soon\"");
    CHECK(quote("a\nb\x1b[0m") == "\"a b [0m\"");
    CHECK(quote("\xff") == "\"\xef\xbf\xbd\"");
    CHECK(count_characters(quote(std::string(10'000, 'x'))) == 63);
    CHECK(is_valid_utf8(quote(std::string(239, 'x') + "é")));
}

TEST_CASE("a name begins a message as it is where it is plain", "[core]")
{
    CHECK(quote_name("steps[0].max-age_2") == "steps[0].max-age_2");
    CHECK(quote_name("") == "\"\"");
    CHECK(quote_name("a b\n") == "\"a b \"");
    CHECK(quote_name("name:") == "\"name:\"");
    CHECK(count_characters(quote_name(std::string(60, 'x'))) == 60);
    CHECK(count_characters(quote_name(std::string(61, 'x'))) == 63);
}

TEST_CASE("ASCII letters compare without case, others as they are", "[core]")
{
    CHECK(to_lower_ascii("AbC-É") == "abc-É");
    CHECK(equals_ignoring_ascii_case("Content-TYPE", "content-type"));
    CHECK_FALSE(equals_ignoring_ascii_case("a", "ab"));
    CHECK_FALSE(equals_ignoring_ascii_case("É", "é"));
}

TEST_CASE("lists are split and trimmed", "[core]")
{
    CHECK(trim(" \t a b\r\n") == "a b");
    CHECK(trim(" \n").empty());
    CHECK(split_list(" a, b ,,c ,") == std::vector<std::string>{"a", "b", "c"});
    CHECK(split_list("a;b", ';') == std::vector<std::string>{"a", "b"});
    CHECK(split_list("").empty());
}

TEST_CASE("lists are joined", "[core]")
{
    CHECK(join_list({"a", "b", "c"}) == "a, b, c");
    CHECK(join_list({}).empty());
}

TEST_CASE("every occurrence is replaced, and nothing is searched twice", "[core]")
{
    CHECK(replace_all("a<b<<c", "<", "&lt;") == "a&lt;b&lt;&lt;c");
    CHECK(replace_all("aaa", "aa", "a") == "aa");
    CHECK(replace_all("abc", "x", "y") == "abc");
    CHECK(replace_all("", "x", "y").empty());
}
