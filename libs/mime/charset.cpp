#include "mime/charset.hpp"

#include "common/core/text.hpp"

#include <iconv.h>

#include <array>
#include <cerrno>

namespace tempinbox::mime {
namespace {

struct label
{
    std::string_view name;
    const char* iconv_name;
};

// Labels whose meaning on the web differs from their name; all others go to iconv as they are.
constexpr std::array labels{
    label{"iso-8859-1", "WINDOWS-1252"},
    label{"iso8859-1", "WINDOWS-1252"},
    label{"latin1", "WINDOWS-1252"},
    label{"l1", "WINDOWS-1252"},
    label{"us-ascii", "WINDOWS-1252"},
    label{"ascii", "WINDOWS-1252"},
    label{"ansi_x3.4-1968", "WINDOWS-1252"},
    label{"cp1252", "WINDOWS-1252"},
    label{"x-cp1252", "WINDOWS-1252"},
    label{"iso-8859-9", "WINDOWS-1254"},
    label{"latin5", "WINDOWS-1254"},
    label{"iso-8859-11", "WINDOWS-874"},
    label{"tis-620", "WINDOWS-874"},
    label{"gb2312", "GB18030"},
    label{"gb_2312-80", "GB18030"},
    label{"gbk", "GB18030"},
    label{"x-gbk", "GB18030"},
    label{"chinese", "GB18030"},
    label{"ks_c_5601-1987", "CP949"},
    label{"ks_c_5601-1989", "CP949"},
    label{"euc-kr", "CP949"},
    label{"korean", "CP949"},
    label{"shift_jis", "CP932"},
    label{"shift-jis", "CP932"},
    label{"sjis", "CP932"},
    label{"x-sjis", "CP932"},
    label{"windows-31j", "CP932"},
    label{"big5", "BIG5-HKSCS"},
    label{"unicode-1-1-utf-7", "UTF-7"},
    label{"utf7", "UTF-7"},
    label{"unicode-1-1-utf-8", "UTF-8"},
    label{"utf8", "UTF-8"},
    label{"x-mac-roman", "MACINTOSH"},
};

class converter
{
public:
    explicit converter(const std::string& charset) : handle_(iconv_open("UTF-8", charset.c_str())) {}
    ~converter()
    {
        if (is_open())
            iconv_close(handle_);
    }
    converter(const converter&) = delete;
    bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

    std::string convert(std::string_view bytes)
    {
        std::string text;
        text.reserve(bytes.size() + bytes.size() / 4);
        std::array<char, 16'384> chunk;
        char* in = const_cast<char*>(bytes.data());
        std::size_t in_left = bytes.size();
        while (in_left != 0) {
            char* out = chunk.data();
            std::size_t out_left = chunk.size();
            const auto outcome = iconv(handle_, &in, &in_left, &out, &out_left);
            const int reason = errno;
            text.append(chunk.data(), chunk.size() - out_left);
            if (outcome != static_cast<std::size_t>(-1) || reason == E2BIG)
                continue;
            text += "\xef\xbf\xbd";
            if (reason == EINVAL)
                break; // cut inside a character at the end
            ++in;
            --in_left;
        }
        return text;
    }

private:
    iconv_t handle_;
};

// RFC 1843: GB 2312 pairs between ~{ and ~}, their high bits off. iconv does not know it.
std::string hz_to_gb18030(std::string_view bytes)
{
    std::string pairs;
    bool is_gb = false;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const auto two = bytes.substr(at, 2);
        if (two == "~{" || two == "~}") {
            is_gb = two == "~{";
            ++at;
        } else if (!is_gb && (two == "~~" || two == "~\n")) {
            if (two == "~~")
                pairs.push_back('~');
            ++at;
        } else if (bytes[at] == '\n') {
            is_gb = false;
            pairs.push_back('\n');
        } else {
            pairs.push_back(is_gb && bytes[at] > 0x20 ? static_cast<char>(bytes[at] | 0x80) : bytes[at]);
        }
    }
    return pairs;
}

bool is_hz(std::string_view charset)
{
    const auto name = to_lower_ascii(trim(charset));
    return name == "hz-gb-2312" || name == "hz";
}

std::string iconv_name(std::string_view charset)
{
    const auto wanted = to_lower_ascii(trim(charset));
    for (const auto& entry : labels)
        if (entry.name == wanted)
            return entry.iconv_name;
    // Only names: iconv reads suffixes such as //TRANSLIT as options.
    return wanted.find('/') == std::string::npos ? wanted : std::string();
}

} // namespace

std::string to_utf8(std::string_view bytes, std::string_view charset)
{
    if (is_hz(charset))
        return to_utf8(hz_to_gb18030(bytes), "GB18030");
    const auto name = iconv_name(charset);
    const bool is_plain_label = name.empty() || name == "WINDOWS-1252" || name == "utf-8" || name == "UTF-8";
    if (is_plain_label && is_valid_utf8(bytes) &&
        (name != "WINDOWS-1252" || to_lower_ascii(trim(charset)) == "us-ascii" || to_lower_ascii(trim(charset)) == "ascii"))
        return to_clean_utf8(bytes);
    if (name == "utf-8" || name == "UTF-8")
        return to_clean_utf8(bytes);
    if (!name.empty()) {
        converter named(name);
        if (named.is_open())
            return to_clean_utf8(named.convert(bytes));
    }
    if (is_valid_utf8(bytes))
        return to_clean_utf8(bytes);
    converter western("WINDOWS-1252");
    return western.is_open() ? to_clean_utf8(western.convert(bytes)) : to_clean_utf8(bytes);
}

} // namespace tempinbox::mime
