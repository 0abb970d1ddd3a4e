#include "mime/charset.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

TEST_CASE("labels mean what mail programs mean by them", "[mime][torture-9]")
{
    CHECK(mime::to_utf8("\x93x\x94 \x80", "iso-8859-1") == "“x” €");
    CHECK(mime::to_utf8("\xe4", "ISO-8859-1 ") == "ä");
    CHECK(mime::to_utf8("\x81\x30\x81\x30", "gb2312") ==
          mime::to_utf8("\x81\x30\x81\x30", "gb18030"));
    CHECK(mime::to_utf8("\xc4\xe3", "gb2312") == "你");
    CHECK(mime::to_utf8("\x8c\x63", "ks_c_5601-1987") == "똠");
    CHECK(mime::to_utf8("Grüße", "us-ascii") == "Grüße");
    CHECK(mime::to_utf8("\xfc", "us-ascii") == "ü");
    CHECK(mime::to_utf8("a\xff z", "utf-8") == "a\xef\xbf\xbd z");
    CHECK(mime::to_utf8("\x93\xfa\x96\x7b", "shift_jis") == "日本");
    CHECK(mime::to_utf8("\xa4\xa4", "big5") == "中");
    CHECK(mime::to_utf8("\xcf\xf0", "windows-1251") == "Пр");
}

TEST_CASE("every label of the web is known", "[mime][torture-9]")
{
    const auto all_give = [](const char* bytes, const char* text,
                             std::initializer_list<const char*> labels) {
        for (const char* label : labels) {
            INFO(label);
            CHECK(mime::to_utf8(bytes, label) == text);
        }
    };
    all_give("\xf9\xec\xe5\xed", "שלום",
             {"iso-8859-8-i", "iso-8859-8-e", "logical", "visual", "csiso88598i", "windows-1255",
              "x-cp1255"});
    all_give("\xe3", "ك", {"iso-8859-6", "iso-8859-6-i", "iso-8859-6-e", "asmo-708"});
    all_give("\xe1", "α", {"iso-8859-7", "sun_eu_greek", "greek8", "x-cp1253"});
    all_give("\xb0\xa1", "가",
             {"euc-kr", "windows-949", "ksc_5601", "ks_c_5601-1987", "iso-ir-149"});
    all_give("\xc6\xfc\xad\xa1", "日①", {"euc-jp", "x-euc-jp"});
    all_give("\x93\xfa\x87\x40", "日①", {"shift_jis", "ms_kanji", "csshiftjis", "ms932"});
    all_give("\xe4", "д", {"windows-1251", "x-cp1251", "x-mac-cyrillic"});
    all_give("\xc4", "д", {"koi8-r", "koi", "koi8", "koi8_r"});
    all_give("\xa1", "ก", {"dos-874", "windows-874", "iso-8859-11", "tis-620"});
    all_give("\xa4\xa4", "中", {"big5", "x-x-big5", "csbig5", "cn-big5"});
    all_give("\xc4\xe3", "你", {"gb_2312", "iso-ir-58", "gb2312", "csgb2312"});
    all_give("\xa4", "€", {"l9", "iso-8859-15", "csisolatin9"});
    all_give("\x9c", "ś", {"x-cp1250", "windows-1250"});
    all_give("\xf0", "ğ", {"x-cp1254", "l5", "iso-8859-9"});
    all_give("\xc1", "ء", {"x-cp1256"});
    all_give("\xe0", "ą", {"x-cp1257", "iso885913"});
    all_give("\xd0", "Đ", {"x-cp1258"});
    all_give("\x80 \x93", "€ “",
             {"iso_8859-1", "iso88591", "iso_8859-1:1987", "iso-ir-100", "cp819", "ibm819",
              "csisolatin1", "l1"});
}

TEST_CASE("a letter that could take a mark is not lost at the end", "[mime][torture-9]")
{
    CHECK(mime::to_utf8("\xf9\xec\xe5\xed", "windows-1255") == "שלום");
    CHECK(mime::to_utf8("a", "windows-1258") == "a");
}

TEST_CASE("a text does not see what the one before it left behind", "[mime][torture-10]")
{
    mime::to_utf8("\x1b$B$H", "iso-2022-jp");
    CHECK(mime::to_utf8("plain", "iso-2022-jp") == "plain");
    mime::to_utf8("\xa4", "euc-jp");
    CHECK(mime::to_utf8("\xc6\xfc", "euc-jp") == "日");
}

TEST_CASE("html may say its charset itself", "[mime]")
{
    CHECK(mime::meta_charset("<html><META Charset=\"Windows-1251\">") == "windows-1251");
    CHECK(mime::meta_charset(
              "<meta name=x><meta http-equiv=content-type content='text/html; charset=koi8-r'>") ==
          "koi8-r");
    CHECK(mime::meta_charset("<meta charset = gbk />") == "gbk");
    for (const char* none : {"", "<meta", "<meta charset", "<meta charset>", "<p charset=gbk>",
                             "<meta charset=utf-7>", "<meta>charset=gbk"})
        CHECK(mime::meta_charset(none).empty());
    CHECK(mime::meta_charset(std::string(1'024, ' ') + "<meta charset=gbk>").empty());
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
    CHECK(mime::to_utf8("\xc1", "IBM037") == "Á"); // iconv knows it, but no mail uses it
    CHECK(mime::to_utf8("\xe4", "koi8-r//translit") == "ä");
    CHECK(mime::to_utf8("\xe4", "koi8-r" + std::string(100'000, ' ')) == "ä");
}

TEST_CASE("no charset lets a NUL through", "[mime][torture-29]")
{
    for (const char* label : {"utf-8", "us-ascii", "iso-8859-1", "utf-16", "utf-7", "gb18030",
                              "iso-2022-jp", "hz", "nonsense"}) {
        const auto text =
            mime::to_utf8(std::string_view("\x00\x01\xff\xfe\xd8\x00\x80\x81+2AA-", 13), label);
        CHECK(text.find('\0') == std::string::npos);
    }
}
