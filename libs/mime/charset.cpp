#include "mime/charset.hpp"

#include "common/core/text.hpp"
#include "mime/charset_labels.hpp"
#include "mime/converter.hpp"
#include "mime/japanese.hpp"
#include "mime/web_characters.hpp"

namespace tempinbox::mime {
namespace {

// RFC 1843: GB 2312 pairs between ~{ and ~}, without their high bits. iconv does not know it.
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
            pairs.push_back(is_gb && bytes[at] > 0x20 ? static_cast<char>(bytes[at] | 0x80)
                                                      : bytes[at]);
        }
    }
    return pairs;
}

// The `charset=` value at the start of `text`, up to its own quote, a blank or the end of the tag.
std::string_view charset_value(std::string_view text)
{
    text = trim(text);
    if (!text.starts_with('='))
        return {};
    text = trim(text.substr(1));
    if (text.starts_with('"') || text.starts_with('\''))
        text.remove_prefix(1);
    return trim(text.substr(0, text.find_first_of("\"'; \t\r\n/>")));
}

// No label is longer, and each piece of a header may look its charset up.
std::string read_label(std::string_view charset)
{
    constexpr std::size_t max_label_length = 64;
    return charset.size() > max_label_length ? std::string() : to_lower_ascii(trim(charset));
}

std::string to_utf8_or_western(std::string_view bytes)
{
    if (is_valid_utf8(bytes))
        return to_clean_utf8(bytes);
    return to_clean_utf8(convert("WINDOWS-1252", bytes));
}

} // namespace

std::string to_utf8(std::string_view bytes, std::string_view charset)
{
    const auto label = read_label(charset);
    if (label == "hz-gb-2312" || label == "hz")
        return to_utf8(hz_to_gb18030(bytes), "gb18030");
    if (label == "us-ascii" || label == "ascii")
        return to_utf8_or_western(bytes);
    const char* name = find_charset(label);
    if (name == nullptr)
        return to_utf8_or_western(bytes);
    if (std::string_view(name) == "UTF-8")
        return to_clean_utf8(bytes);
    if (std::string_view(name) == "ISO-2022-JP")
        return to_clean_utf8(decode_iso_2022_jp(bytes));
    if (std::string_view(name) == "EUC-JP-MS")
        return to_clean_utf8(decode_euc_jp(bytes));
    return to_clean_utf8(convert_as_web(name, bytes));
}

std::string_view without_byte_order_mark(std::string_view utf8)
{
    constexpr std::string_view mark = "\xef\xbb\xbf";
    while (utf8.starts_with(mark))
        utf8.remove_prefix(mark.size());
    return utf8;
}

std::string_view marked_charset(std::string_view bytes, std::string_view label)
{
    if (bytes.starts_with("\xef\xbb\xbf"))
        return "utf-8";
    // UTF-32 in little endian begins with the mark of UTF-16.
    const char* const named = find_charset(read_label(label));
    const bool is_utf32 = named != nullptr && std::string_view(named).starts_with("UTF-32");
    if (bytes.starts_with("\xfe\xff") && !is_utf32)
        return "utf-16be";
    if (bytes.starts_with("\xff\xfe") && !is_utf32)
        return "utf-16le";
    return {};
}

std::string meta_charset(std::string_view html)
{
    constexpr std::size_t max_head_bytes = 1'024;
    const auto head = to_lower_ascii(html.substr(0, max_head_bytes));
    for (auto tag = head.find("<meta"); tag != std::string::npos;
         tag = head.find("<meta", tag + 1)) {
        const auto inside = std::string_view(head).substr(tag, head.find('>', tag) - tag);
        const auto name = inside.find("charset");
        if (name == std::string_view::npos)
            continue;
        const auto value = charset_value(inside.substr(name + std::string_view("charset").size()));
        // A tag read as ASCII cannot be UTF-16, and UTF-7 could hide tags.
        return value.starts_with("utf") ? std::string() : std::string(value);
    }
    return {};
}

} // namespace tempinbox::mime
