#include "mime/charset.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("labels mean what mail programs mean by them", "[mime][torture-9]")
{
    CHECK(mime::to_utf8("\x93x\x94 \x80", "iso-8859-1") == "“x” €");
    CHECK(mime::to_utf8("\xe4", "ISO-8859-1 ") == "ä");
    CHECK(mime::to_utf8("\x81\x30\x81\x30", "gb2312") == mime::to_utf8("\x81\x30\x81\x30", "gb18030"));
    CHECK(mime::to_utf8("\xc4\xe3", "gb2312") == "你");
    CHECK(mime::to_utf8("\x8c\x63", "ks_c_5601-1987") == "똠");
    CHECK(mime::to_utf8("Grüße", "us-ascii") == "Grüße");
    CHECK(mime::to_utf8("\xfc", "us-ascii") == "ü");
    CHECK(mime::to_utf8("a\xff z", "utf-8") == "a\xef\xbf\xbd z");
    CHECK(mime::to_utf8("\x93\xfa\x96\x7b", "shift_jis") == "日本");
    CHECK(mime::to_utf8("\xa4\xa4", "big5") == "中");
    CHECK(mime::to_utf8("\xcf\xf0", "windows-1251") == "Пр");
}

TEST_CASE("rare and unknown charsets", "[mime][torture-10]")
{
    CHECK(mime::to_utf8("Hi Mom +Jjo-!", "utf-7") == "Hi Mom ☺!");
    CHECK(mime::to_utf8("+AAA-", "unicode-1-1-utf-7") == "\xef\xbf\xbd");
    CHECK(mime::to_utf8(std::string_view("\xff\xfe\x61\x00", 4), "utf-16") == "a");
    CHECK(mime::to_utf8(std::string_view("\xfe\xff\x00\x61", 4), "utf-16") == "a");
    CHECK(mime::to_utf8("\x1b$B$H\x1b(B", "iso-2022-jp") == "と");
    CHECK(mime::to_utf8("~{<:Ky2;~}.", "hz-gb-2312") == "己所不.");
    CHECK(mime::to_utf8("~~ ~{VP~}", "HZ") == "~ 中");
    CHECK(mime::to_utf8("ä", "x-nobody-knows") == "ä");
    CHECK(mime::to_utf8("\xe4", "x-nobody-knows") == "ä");
    CHECK(mime::to_utf8("\xe4", "") == "ä");
    CHECK(mime::to_utf8("a", "../../x\"; charset") == "a");
}

TEST_CASE("no charset lets a NUL through", "[mime][torture-29]")
{
    for (const char* label : {"utf-8", "us-ascii", "iso-8859-1", "utf-16", "utf-7", "gb18030", "iso-2022-jp", "hz", "nonsense"}) {
        const auto text = mime::to_utf8(std::string_view("\x00\x01\xff\xfe\xd8\x00\x80\x81+2AA-", 13), label);
        CHECK(text.find('\0') == std::string::npos);
    }
}
