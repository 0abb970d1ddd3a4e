#include "mime/charset_labels.hpp"

#include "common/core/ascii.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace tempinbox::mime {
namespace {

struct row
{
    const char* iconv_name;
    std::string_view labels; // separated by blanks
};

// https://encoding.spec.whatwg.org/#names-and-labels; labels that mean windows-1252 there do so
// here.
constexpr row web_labels[] = {
    {"UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"},
    {"IBM866", "866 cp866 csibm866 ibm866"},
    {"ISO-8859-2",
     "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"},
    {"ISO-8859-3",
     "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"},
    {"ISO-8859-4",
     "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"},
    {"ISO-8859-5", "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 "
                   "iso_8859-5 iso_8859-5:1988"},
    {"ISO-8859-6", "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 "
                   "iso-8859-6-e iso-8859-6-i "
                   "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"},
    {"ISO-8859-7", "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 "
                   "iso88597 iso_8859-7 "
                   "iso_8859-7:1987 sun_eu_greek"},
    {"ISO-8859-8", "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e "
                   "iso-8859-8-i iso-ir-138 iso8859-8 "
                   "iso88598 iso_8859-8 iso_8859-8:1988 logical visual"},
    {"ISO-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"},
    {"ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"},
    {"ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"},
    {"ISO-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"},
    {"ISO-8859-16", "iso-8859-16"},
    {"KOI8-R", "cskoi8r koi koi8 koi8-r koi8_r"},
    {"KOI8-U", "koi8-ru koi8-u"},
    {"MACINTOSH", "csmacintosh mac macintosh x-mac-roman"},
    {"CP874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"},
    {"WINDOWS-1250", "cp1250 windows-1250 x-cp1250"},
    {"WINDOWS-1251", "cp1251 windows-1251 x-cp1251"},
    {"WINDOWS-1252", "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 "
                     "iso8859-1 iso88591 iso_8859-1 "
                     "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"},
    {"WINDOWS-1253", "cp1253 windows-1253 x-cp1253"},
    {"WINDOWS-1254", "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
                     "iso_8859-9:1989 l5 latin5 "
                     "windows-1254 x-cp1254"},
    {"WINDOWS-1255", "cp1255 windows-1255 x-cp1255"},
    {"WINDOWS-1256", "cp1256 windows-1256 x-cp1256"},
    {"WINDOWS-1257", "cp1257 windows-1257 x-cp1257"},
    {"WINDOWS-1258", "cp1258 windows-1258 x-cp1258"},
    {"MAC-UK", "x-mac-cyrillic x-mac-ukrainian"},
    {"GB18030",
     "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"},
    {"BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
    {"EUC-JP-MS", "cseucpkdfmtjapanese euc-jp x-euc-jp"},
    {"ISO-2022-JP", "csiso2022jp iso-2022-jp"},
    {"CP932", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"},
    {"CP949", "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 "
              "ksc5601 ksc_5601 windows-949"},
    {"UTF-16BE", "unicodefffe utf-16be"},
    {"UTF-16LE", "utf-16le"},
    {"UTF-16",
     "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"}, // WHATWG: UTF-16LE, after a
                                                                    // check for a BOM
};

// Charsets that the web has given up but mail still uses.
constexpr row mail_labels[] = {
    {"UTF-8", "cp65001 utf_8"},
    {"UTF-7", "csunicode11utf7 unicode-1-1-utf-7 utf-7 utf7 x-unicode-2-0-utf-7"},
    {"UTF-32", "iso-10646-ucs-4 ucs-4 utf-32 utf32"},
    {"UTF-32BE", "utf-32be"},
    {"UTF-32LE", "utf-32le"},
    {"WINDOWS-1252",
     "8859_1 646 ansi_x3.4-1986 csascii iso-8859_1 iso646-us iso8859_1 latin-1 us windows1252"},
    {"WINDOWS-1251", "win-1251 win1251 windows1251"},
    {"ISO-8859-13", "iso_8859-13 l7 latin7"},
    {"ISO-8859-14", "iso_8859-14 iso_8859-14:1998 iso-ir-199 l8 latin8"},
    {"ISO-8859-15", "iso_8859-15:1998 latin-9 latin9"},
    {"ISO-8859-16", "iso_8859-16 iso_8859-16:2001 l10 latin10"},
    {"CP874", "cp874 iso_8859-11 tis620 tis620-2533 tis-620-2533 x-windows-874"},
    {"CP932",
     "cp932 cp943 cp943c cswindows31j ibm-943 ms_932 shiftjis windows-932 x-ms-cp932 x-sjis-cp932"},
    {"CP949", "cp949 cseuc-kr euckr ks_c_5601 ksc_5601-1987 ms949 uhc x-windows-949"},
    {"GB18030", "cp936 euc-cn euccn gb2312-80 gb-2312 gb18030-2000 gb18030-2005 gb18030-2022 ms936 "
                "windows-936 x-mswin-936"},
    {"BIG5-HKSCS", "big5-eten big5hkscs big5_hkscs cp950 ms950 windows-950 x-windows-950"},
    {"EUC-JP-MS", "cp51932 eucjp eucjp-ms eucjp-open eucjp-win eucjpms euc_jp"},
    {"EUC-TW", "cseuctw euc-tw"},
    {"ISO-2022-CN", "csiso2022cn iso-2022-cn"},
    {"ISO-2022-JP",
     "cp50220 cp50221 cp50222 csiso2022jp2 iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-3 "
     "iso-2022-jp-2004 iso-2022-jp-ext iso-2022-jp-ms iso2022-jp iso2022jp "
     "windows-50220 windows-50221 windows-50222 x-windows-50220 x-windows-50221 "
     "x-windows-iso2022jp"},
    {"ISO-2022-KR", "csiso2022kr iso-2022-kr"},
    {"JOHAB", "cp1361 johab ms1361"},
    {"KOI8-T", "koi8-t"},
    {"ARMSCII-8", "armscii-8"},
    {"GEORGIAN-PS", "georgian-ps"},
    {"TCVN", "tcvn tcvn5712-1"},
    {"VISCII", "csviscii viscii"},
    {"IBM437", "437 cp437 ibm437"},
    {"IBM850", "850 cp850 ibm850"},
    {"IBM852", "852 cp852 ibm852"},
    {"IBM855", "855 cp855 ibm855"},
    {"IBM857", "857 cp857 ibm857"},
    {"CP737", "cp737"},
    {"CP775", "cp775 ibm775"},
    {"IBM862", "862 cp862 dos-862 ibm862"},
    {"IBM864", "864 cp864 ibm864"},
};

// `ISO_8859_9` and `cp-1254` are written in as many ways as there are programs.
std::string letters_and_digits(std::string_view label)
{
    std::string kept;
    for (const char c : label)
        if (is_letter_or_digit(c))
            kept.push_back(c);
    return kept;
}

template <class Add>
void for_each_label(const Add& add)
{
    const auto add_row = [&add](const row& entry) {
        auto rest = entry.labels;
        while (!rest.empty()) {
            const auto name = rest.substr(0, rest.find(' '));
            add(name, entry.iconv_name);
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        }
    };
    for (const auto& entry : web_labels)
        add_row(entry);
    for (const auto& entry : mail_labels)
        add_row(entry);
}

} // namespace

const char* find_charset(std::string_view label)
{
    static const auto charsets = [] {
        std::unordered_map<std::string_view, const char*> all;
        for_each_label(
            [&](std::string_view name, const char* charset) { all.emplace(name, charset); });
        return all;
    }();
    static const auto by_letters = [] {
        std::unordered_map<std::string, const char*> all;
        for_each_label([&](std::string_view name, const char* charset) {
            all.emplace(letters_and_digits(name), charset);
        });
        return all;
    }();
    if (const auto found = charsets.find(label); found != charsets.end())
        return found->second;
    if (label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_. :") !=
        std::string_view::npos)
        return nullptr;
    const auto found = by_letters.find(letters_and_digits(label));
    return found == by_letters.end() ? nullptr : found->second;
}

} // namespace tempinbox::mime
