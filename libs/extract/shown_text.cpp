#include "extract/shown_text.hpp"

#include "common/core/text.hpp"
#include "html/markup.hpp"

#include <algorithm>

namespace tempinbox::extract {
namespace {

// The first character of valid UTF-8.
std::string_view first_character(std::string_view text)
{
    const auto lead = static_cast<std::uint8_t>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return text.substr(0, length);
}

std::uint32_t code_point(std::string_view character)
{
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<std::uint8_t>(character[i]));
    };
    switch (character.size()) {
    case 1:
        return byte(0);
    case 2:
        return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3:
        return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    default:
        return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
               (byte(3) & 0x3f);
    }
}

bool is_within(std::uint32_t point, std::uint32_t first, std::uint32_t last)
{
    return point >= first && point <= last;
}

constexpr std::uint32_t zeros[] = {0x660, 0x6f0, 0x966, 0x9e6,
                                   0xe50}; // Arabic, Persian, Devanagari, Bengali, Thai

constexpr char dropped = '\x02';
constexpr char as_is = '\0';

// The ASCII character that stands for a non-ASCII one.
char folded(std::uint32_t point)
{
    for (const auto zero : zeros)
        if (is_within(point, zero, zero + 9))
            return static_cast<char>('0' + (point - zero));
    // Full-width forms, except the comma and full stop: they end sentences, where the ASCII ones
    // may join numbers.
    if (is_within(point, 0xff01, 0xff5e) && point != 0xff0c && point != 0xff0e)
        return static_cast<char>(point - 0xff01 + '!');
    if (point == 0xa0 || is_within(point, 0x2000, 0x200a) || point == 0x202f || point == 0x205f ||
        point == 0x3000)
        return ' ';
    if (is_within(point, 0x2010, 0x2013) || point == 0x2212)
        return '-';
    if (point == 0xad || is_within(point, 0x200b, 0x200f) || is_within(point, 0x202a, 0x202e) ||
        is_within(point, 0x2060, 0x2069) || point == 0xfeff || point == 0x34f)
        return dropped;
    return as_is;
}

// Needs no change; most text is nothing else.
bool is_plain(char c)
{
    return c > '\r' && c < 0x7f;
}

bool is_url_character(char c)
{
    return c > 0x20 && c < 0x7f && c != '<' && c != '>' && c != '"';
}

} // namespace

shown_text shown_text::of_plain(std::string_view utf8)
{
    shown_text shown;
    shown.text_.reserve(utf8.size());
    std::size_t offset = 0;
    for (auto rest = utf8; !rest.empty();) {
        const auto plain = std::find_if_not(rest.begin(), rest.end(), is_plain) - rest.begin();
        if (plain > 0) {
            const auto length = static_cast<std::size_t>(plain);
            shown.put(rest.substr(0, length), offset);
            rest.remove_prefix(length);
            offset += length;
            continue;
        }
        const auto character = first_character(rest);
        shown.put_folded(character, offset++);
        rest.remove_prefix(character.size());
    }
    shown.blot_urls();
    return shown;
}

shown_text shown_text::of_html(std::string_view html, std::size_t max_bytes)
{
    shown_text shown;
    std::size_t offset = 0;
    for (std::size_t at = 0; at < html.size() && shown.text_.size() < max_bytes;) {
        const auto step = html::read_markup(html, at);
        switch (step.means) {
        case html::markup::character: {
            const auto character = first_character(html.substr(at));
            const bool is_space =
                character == "\n" || character == "\t" || character == "\r" || character == " ";
            is_space ? shown.put_blank(offset) : shown.put_folded(character, offset);
            ++offset;
            at += character.size();
            continue;
        }
        case html::markup::entity:
            step.text == " " ? shown.put_blank(offset) : shown.put_all(step.text, offset);
            break;
        case html::markup::line_break:
            shown.put_line_break(offset);
            break;
        case html::markup::cell:
            shown.put_blank(offset);
            break;
        case html::markup::nothing:
            break;
        }
        offset += count_characters(html.substr(at, step.length));
        at += step.length;
    }
    shown.blot_urls();
    return shown;
}

std::size_t shown_text::offset_of(std::size_t at) const
{
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), at,
                         [](std::size_t searched, const run& next) { return searched < next.at; });
    const auto& holds = *std::prev(after);
    return holds.offset + (at - holds.at);
}

void shown_text::note_offset(std::size_t offset)
{
    const auto at = static_cast<std::uint32_t>(text_.size());
    const bool goes_on = !runs_.empty() && runs_.back().offset + (at - runs_.back().at) == offset;
    if (!goes_on)
        runs_.push_back(run{at, static_cast<std::uint32_t>(offset)});
}

// Appends one character, or several of one byte each.
void shown_text::put(std::string_view characters, std::size_t offset)
{
    note_offset(offset);
    text_ += characters;
}

void shown_text::put_folded(std::string_view character, std::size_t offset)
{
    if (character.empty() || character == "\r")
        return;
    if (character.size() == 1) {
        put(character == "\t" ? " " : character, offset);
        return;
    }
    const char plain = folded(code_point(character));
    if (plain == as_is)
        put(character, offset);
    else if (plain != dropped)
        put(std::string_view(&plain, 1), offset);
}

// Appends the characters of one entity, all with the entity's offset.
void shown_text::put_all(std::string_view text, std::size_t offset)
{
    for (auto rest = text; !rest.empty();) {
        const auto character = first_character(rest);
        put_folded(character, offset);
        rest.remove_prefix(character.size());
    }
}

// Collapses blanks, as HTML does.
void shown_text::put_blank(std::size_t offset)
{
    if (!text_.empty() && text_.back() != ' ' && text_.back() != '\n')
        put(" ", offset);
}

void shown_text::put_line_break(std::size_t offset)
{
    if (!text_.empty() && text_.back() == ' ') {
        text_.pop_back();
        if (runs_.back().at == text_.size())
            runs_.pop_back();
    }
    if (!text_.empty() && !text_.ends_with("\n\n"))
        put("\n", offset);
}

// Numbers and words in URLs are no codes and announce none.
void shown_text::blot_urls()
{
    for (auto colon = text_.find("://"); colon != std::string::npos;
         colon = text_.find("://", colon + 1)) {
        auto begin = colon;
        while (begin > 0 && colon - begin < 8 && text_[begin - 1] >= 'A' && text_[begin - 1] <= 'z')
            --begin;
        auto end = colon;
        while (end < text_.size() && is_url_character(text_[end]))
            ++end;
        std::fill(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                  text_.begin() + static_cast<std::ptrdiff_t>(end), '\x01');
        colon = end;
        if (colon >= text_.size())
            break;
    }
}

} // namespace tempinbox::extract
