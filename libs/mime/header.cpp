#include "mime/header.hpp"

#include "common/core/blanks.hpp"
#include "common/core/text.hpp"
#include "mime/charset.hpp"
#include "mime/transfer.hpp"

#include <optional>

namespace tempinbox::mime {
namespace {

constexpr std::size_t max_name_bytes = 1'000;

// `=?charset[*language]?B|Q?text?=` (RFC 2047 2, RFC 2231 5).
struct encoded_word
{
    std::string_view charset;
    std::string bytes;
    std::size_t length = 0;
};

struct coded_word
{
    std::string_view charset;
    std::string_view text;
    std::size_t length = 0;
    char how = 0;
};

std::optional<coded_word> find_word(std::string_view text)
{
    constexpr std::size_t max_charset_bytes = 64;
    const auto charset_end = text.starts_with("=?") ? text.substr(0, max_charset_bytes).find('?', 2)
                                                    : std::string_view::npos;
    if (charset_end == std::string_view::npos || charset_end == 2 ||
        charset_end + 2 >= text.size() || text[charset_end + 2] != '?')
        return std::nullopt;
    const auto content = text.substr(charset_end + 3);
    const auto end = content.find('?');
    if (end == std::string_view::npos || end + 1 >= content.size() || content[end + 1] != '=')
        return std::nullopt;

    coded_word word;
    word.text = content.substr(0, end);
    word.how = text[charset_end + 1];
    // A blank ends a word, but base64 that a line end has cut stays base64.
    const bool is_base64 = word.how == 'B' || word.how == 'b';
    if (!is_base64 && word.text.find_first_of(" \t") != std::string_view::npos)
        return std::nullopt;
    word.charset = text.substr(2, charset_end - 2);
    word.charset = word.charset.substr(0, word.charset.find('*'));
    word.length = charset_end + 3 + end + 2;
    return word;
}

std::optional<encoded_word> read_word(std::string_view text)
{
    const auto found = find_word(text);
    if (!found)
        return std::nullopt;
    const auto coded = found->text;
    encoded_word word;
    word.charset = found->charset;
    word.length = found->length;
    const char how = found->how;
    if (how == 'Q' || how == 'q') {
        word.bytes = decode_q(coded);
    } else if (how == 'B' || how == 'b') {
        auto payload = decode(encoding::base64, coded);
        const bool lacks_padding_alone =
            coded.find_first_not_of(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") ==
            std::string_view::npos;
        if (payload.is_damaged && !lacks_padding_alone)
            return std::nullopt;
        word.bytes = std::move(payload.bytes);
    } else {
        return std::nullopt;
    }
    return word;
}

// Escapes NUL and non-ASCII bytes in the `Q` encoding.
std::string escape_word(std::string_view word)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string escaped;
    for (const char c : word) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte != 0 && byte < 0x80)
            escaped.push_back(c);
        else
            escaped.append({'=', digits[byte >> 4], digits[byte & 15]});
    }
    return escaped;
}

std::string one_line(std::string text)
{
    for (char& c : text)
        if (c == '\r' || c == '\n')
            c = ' ';
    return text;
}

} // namespace

std::string_view field_name(std::string_view line)
{
    const auto colon = line.substr(0, max_name_bytes).find(':');
    if (colon == std::string_view::npos)
        return {};
    auto name = line.substr(0, colon);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\t'))
        name.remove_suffix(1);
    const bool is_name =
        std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    return is_name ? name : std::string_view{};
}

std::string unfold(std::string_view value)
{
    std::string line;
    line.reserve(value.size());
    for (std::size_t at = 0; at < value.size(); ++at) {
        if (value[at] != '\r' && value[at] != '\n')
            line.push_back(value[at]);
        // A parameter on a line of its own that was not indented.
        else if (value[at] == '\n' && at + 1 < value.size() &&
                 std::string_view(" \t\r\n").find(value[at + 1]) == std::string_view::npos)
            line += "; ";
    }
    return std::string(trim(line));
}

std::size_t comment_end(std::string_view text, std::size_t at)
{
    std::size_t depth = 0;
    for (; at < text.size(); at += text[at] == '\\' ? 2 : 1) {
        if (text[at] == '(')
            ++depth;
        else if (text[at] == ')' && --depth == 0)
            return at + 1;
    }
    return std::string_view::npos;
}

std::size_t encoded_word_length(std::string_view text)
{
    const auto found = find_word(text);
    return found ? found->length : 0;
}

std::string decode_text(std::string_view unfolded, std::string_view charset, bool& has_raw_bytes)
{
    std::string out;
    // Joined bytes of encoded words of one charset: a character may be split over two words.
    std::string pending;
    std::string_view pending_charset;
    const auto flush = [&] {
        out += without_byte_order_mark(to_utf8(std::exchange(pending, {}), pending_charset));
        pending_charset = {};
    };
    const auto take_plain = [&](std::string_view plain) {
        if (plain.empty())
            return;
        const bool is_utf8 = is_valid_utf8(plain);
        has_raw_bytes = has_raw_bytes || !is_utf8;
        const auto text = is_utf8 ? to_clean_utf8(plain) : to_utf8(plain, charset);
        out += out.empty() ? without_byte_order_mark(text) : std::string_view(text);
    };

    std::size_t plain_from = 0;
    bool is_after_word = false;
    for (std::size_t at = unfolded.find("=?"); at != std::string_view::npos;) {
        const auto word = read_word(unfolded.substr(at));
        if (!word) {
            at = unfolded.find("=?", at + 2);
            continue;
        }
        const auto between = unfolded.substr(plain_from, at - plain_from);
        const bool is_adjacent =
            is_after_word && between.find_first_not_of(" \t") == std::string_view::npos;
        if (!is_adjacent) {
            flush();
            take_plain(between);
        } else if (!equals_ignoring_ascii_case(pending_charset, word->charset)) {
            flush();
        }
        pending_charset = word->charset;
        pending += word->bytes;
        is_after_word = true;
        plain_from = at + word->length;
        at = unfolded.find("=?", plain_from);
    }
    flush();
    take_plain(unfolded.substr(plain_from));
    // Blanks at the ends were encoded: senders encode a whole template's line, its end included.
    return std::string(trim_blanks(one_line(std::move(out))));
}

std::string escape_raw_bytes(std::string_view unfolded, std::string_view charset)
{
    std::string line;
    std::size_t plain_from = 0;
    for (std::size_t at = unfolded.find("=?"); at != std::string_view::npos;) {
        const auto word = read_word(unfolded.substr(at));
        if (!word) {
            at = unfolded.find("=?", at + 2);
            continue;
        }
        line += to_utf8(unfolded.substr(plain_from, at - plain_from), charset);
        line += escape_word(unfolded.substr(at, word->length));
        plain_from = at + word->length;
        at = unfolded.find("=?", plain_from);
    }
    line += to_utf8(unfolded.substr(plain_from), charset);
    return line;
}

} // namespace tempinbox::mime
