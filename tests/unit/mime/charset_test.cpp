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

TEST_CASE("a label is known whatever marks are in it", "[mime]")
{
    for (const char* label : {"ISO_8859_9", "iso8859_9", "iso 8859-9", "windows_1254", "cp-1254"}) {
        INFO(label);
        CHECK(mime::to_utf8("\xf0", label) == "ğ");
    }
    CHECK(mime::to_utf8("\x93\xfa", "Shift-JIS") == "日");
    CHECK(mime::to_utf8("\x1b$BF|\x1b(B", "ISO_2022_JP") == "日");
    CHECK(mime::to_utf8("\xf0", "iso-8859-9; x") == "ð");
    CHECK(mime::to_utf8("\xf0", "-") == "ð");
}

TEST_CASE("Japanese mail has the characters of NEC and half-width kana", "[mime]")
{
    for (const char* label :
         {"iso-2022-jp", "ISO-2022-JP-MS", "cp50220", "cp50221", "csISO2022JP", "iso-2022-jp-2"}) {
        INFO(label);
        CHECK(mime::to_utf8("\x1b$B\x27\x28\x27\x25\x2d\x62\x1b(B41", label) == "ЖД№41");
        CHECK(mime::to_utf8("\x1b$B\x2d\x21\x2d\x6a\x2d\x35\x1b(B", label) == "①㈱Ⅰ");
        CHECK(mime::to_utf8("\x1b(I6@6E\x1b(B a", label) == "ｶﾀｶﾅ a");
    }
    const auto jis = [](std::string_view bytes) { return mime::to_utf8(bytes, "iso-2022-jp"); };
    CHECK(jis("\x1b$B!A!]!B\x1b(B") == "～－∥"); // as the web reads them
    CHECK(jis("\x1b$By!|~\x1b(B") == "纊＂");    // NEC's selection of IBM
    CHECK(jis("\x0e"
              "6@\x0f"
              "a \xb6\xc0") == "ｶﾀa ｶﾀ"); // 50222, and bytes alone
    CHECK(jis("\x1b(J\\100~\x1b(B\\") == "¥100‾\\");
    CHECK(jis("\x1b$(D\x30\x21\x1b(B") == "丂");     // JIS X 0212
    CHECK(jis("\x1b$AVP\x1b$(C0!\x1b(B") == "中가"); // ISO-2022-JP-2
    CHECK(jis("\x1b.A\x1bNd") == "ä");
    CHECK(jis("\x1b&@\x1b$BF|\x1b(B") == "日");
    CHECK(jis("\x1b$BF\nF|\x1b(B\x1b") == "\ufffd\n日\ufffd");

    for (const char* label : {"euc-jp", "eucjp-ms", "cp51932"}) {
        INFO(label);
        CHECK(mime::to_utf8("\xad\xe2\xad\xa1\xf9\xa1\x8e\xb6\xa1\xc1", label) == "№①纊ｶ～");
        CHECK(mime::to_utf8("\x8f\xb0\xa1 \x8f\xf3\xf3", label) == "丂 ⅰ");
    }
    CHECK(mime::to_utf8("\xa4<a>", "euc-jp") == "\ufffd<a>");
    for (const char* label :
         {"shift_jis", "sjis", "windows-31j", "cp932", "ms932", "cswindows31j"}) {
        INFO(label);
        CHECK(mime::to_utf8("\x87\x82\x87\x40\xed\x40\xfa\x40\xb6\x81\x60", label) == "№①纊ⅰｶ～");
    }
}

TEST_CASE("charsets have the characters that the web gives them", "[mime]")
{
    for (const char* label : {"iso-8859-1", "latin1", "windows-1252", "us-ascii"})
        CHECK(mime::to_utf8("\x80\x85\x91\x99\x81", label) == "€…‘™\u0081");
    for (const char* label : {"iso-8859-9", "latin5", "windows-1254"})
        CHECK(mime::to_utf8("\x80\x93\xf0\x9f\x8d", label) == "€“ğŸ\u008d");
    for (const char* label : {"iso-8859-11", "tis-620", "windows-874", "TIS620", "cp874"})
        CHECK(mime::to_utf8("\x80\x85\x93\xa1\xdf\x81\xdb", label) == "€…“ก฿\u0081\ufffd");
    for (const char* label : {"gb2312", "gbk", "gb_2312-80", "euc-cn", "cp936", "x-gbk"})
        CHECK(mime::to_utf8("\x80 \xa2\xe3 \x81\x40 \xa3\xa0 \x81\x30\x81\x30", label) ==
              "€ € 丂 \u3000 \u0080");
    for (const char* label : {"ks_c_5601-1987", "euc-kr", "cp949", "uhc", "ks_c_5601-1989"})
        CHECK(mime::to_utf8("\x81\x41\xb0\xa1\xa2\xe6\\", label) == "갂가€\\");
    for (const char* label : {"big5", "cp950", "big5-hkscs"})
        CHECK(mime::to_utf8("\xa3\xe1\xa1\xe3\xa2\x40\xa4\xa4\x8e\x69\xf9\xd6 \xa1"
                            "1",
                            label) == "€～＼中箸碁 \ufffd1");
    CHECK(mime::to_utf8("\xae\xbe", "koi8-u") == "ўЎ");
    CHECK(mime::to_utf8("\xdb\xc6", "macintosh") == "€∆");
    CHECK(mime::to_utf8("\xff", "x-mac-cyrillic") == "€");
    CHECK(mime::to_utf8("\x98", "windows-1251") == "\u0098");
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

TEST_CASE("a text is not read in the byte order of the text before", "[mime]")
{
    for (int round = 0; round < 3; ++round) {
        CHECK(mime::to_utf8(std::string_view("\xff\xfe\x61\x00", 4), "utf-16") == "a");
        CHECK(mime::to_utf8(std::string_view("\xfe\xff\x00\x61", 4), "utf-16") == "a");
        CHECK(mime::to_utf8(std::string_view("\x61\x00", 2), "utf-16") == "a");
        CHECK(mime::to_utf8(std::string_view("\xff\xfe\x00\x00\x61\x00\x00\x00", 8), "utf-32") ==
              "a");
        CHECK(mime::to_utf8(std::string_view("\x00\x00\xfe\xff\x00\x00\x00\x61", 8), "utf-32") ==
              "a");
    }
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
