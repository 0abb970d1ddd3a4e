#include "gateway/pipeline/negotiation.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"

#include <algorithm>
#include <charconv>

namespace tempinbox::gateway {
namespace {

// One element of Accept. Specificity: 0 is any type, 1 any subtype, 2 one type.
struct media_range
{
    std::string type;
    std::string subtype;
    int quality = 1'000;

    int specificity() const { return type == "*" ? 0 : subtype == "*" ? 1 : 2; }
};

// Pieces between separators outside of quoted strings.
std::vector<std::string> split_outside_quotes(std::string_view text, char separator)
{
    std::vector<std::string> pieces(1);
    bool is_quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '"')
            is_quoted = !is_quoted;
        if (is_quoted && text[at] == '\\' && at + 1 < text.size())
            pieces.back() += text[at++];
        if (text[at] == separator && !is_quoted)
            pieces.emplace_back();
        else
            pieces.back() += text[at];
    }
    return pieces;
}

// RFC 9110 12.4.2: 0 to 1 with at most three decimals, returned in thousandths.
std::optional<int> read_quality(std::string_view text)
{
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1') ||
        (text.size() > 1 && text[1] != '.'))
        return std::nullopt;
    std::string digits(text.size() > 2 ? text.substr(2) : std::string_view());
    if (!std::all_of(digits.begin(), digits.end(), is_digit))
        return std::nullopt;
    digits.resize(3, '0');
    const int quality = (text[0] - '0') * 1'000 + std::stoi(digits);
    if (quality > 1'000)
        return std::nullopt;
    return quality;
}

// Parameters other than q are ignored, since no offer has variants.
std::optional<media_range> read_range(std::string_view text)
{
    const auto pieces = split_outside_quotes(text, ';');
    const auto name = to_lower_ascii(trim(pieces.front()));
    const auto slash = name.find('/');
    media_range range;
    range.type = name.substr(0, slash);
    range.subtype = slash == std::string::npos ? (name == "*" ? "*" : "") : name.substr(slash + 1);
    if (range.type.empty() || range.subtype.empty() || (range.type == "*" && range.subtype != "*"))
        return std::nullopt;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        const auto parameter = trim(pieces[i]);
        if (parameter.size() < 2 || (parameter[0] != 'q' && parameter[0] != 'Q') ||
            parameter[1] != '=')
            continue;
        const auto quality = read_quality(parameter.substr(2));
        if (!quality)
            return std::nullopt;
        range.quality = *quality;
    }
    return range;
}

// The quality of the most specific range that matches.
int quality_of(std::string_view offer, const std::vector<media_range>& ranges)
{
    const auto slash = offer.find('/');
    const auto type = offer.substr(0, slash), subtype = offer.substr(slash + 1);
    const media_range* decisive = nullptr;
    for (const auto& range : ranges) {
        const bool fits = (range.type == "*" || range.type == type) &&
                          (range.subtype == "*" || range.subtype == subtype);
        if (fits && (!decisive || range.specificity() > decisive->specificity()))
            decisive = &range;
    }
    return decisive ? decisive->quality : 0;
}

// RFC 8187 3.2.1: what needs no escape.
bool is_attribute_character(char c)
{
    return is_letter_or_digit(c) ||
           std::string_view("!#$&+-.^_`|~").find(c) != std::string_view::npos;
}

std::string escape(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string escaped;
    for (const char each : text) {
        const auto c = static_cast<unsigned char>(each);
        if (is_attribute_character(each)) {
            escaped += each;
            continue;
        }
        escaped += '%';
        escaped += digits[c >> 4];
        escaped += digits[c & 15];
    }
    return escaped;
}

// A name that no file system reads as anything but the name of a visible file in one folder:
// without control characters and path separators, no dot in front, bounded.
std::string file_name_of(std::string_view given)
{
    constexpr std::size_t max_bytes = 255;
    std::string name = to_clean_utf8(take_bytes(given, max_bytes));
    for (char& each : name) {
        const auto c = static_cast<unsigned char>(each);
        if (c < 0x20 || c == 0x7f || each == '/' || each == '\\')
            each = '_';
    }
    if (name.starts_with('.'))
        name.front() = '_';
    return name.empty() ? "attachment" : name;
}

// Replaces each character that is not safe in every quoted string by one underscore (RFC 6266
// appendix D).
std::string in_plain_ascii(std::string_view text)
{
    std::string plain;
    for (const char each : text) {
        const auto c = static_cast<unsigned char>(each);
        if ((c & 0xc0U) == 0x80U)
            continue; // a continuation byte of UTF-8
        const bool is_plain = c >= 0x20 && c < 0x7f && each != '"' && each != '\\' && each != '%';
        plain += is_plain ? each : '_';
    }
    return plain;
}

} // namespace

std::optional<std::string> joined_header(const http::request& received, std::string_view name)
{
    std::optional<std::string> joined;
    for (const auto& [each, value] : received.headers)
        if (equals_ignoring_ascii_case(each, name))
            joined = joined ? *joined + ", " + value : value;
    return joined;
}

std::optional<std::size_t> choose_media_type(const std::optional<std::string>& accept,
                                             const std::vector<std::string>& offers)
{
    if (!accept || trim(*accept).empty())
        return 0;
    std::vector<media_range> ranges;
    for (const auto& piece : split_outside_quotes(*accept, ','))
        if (auto range = read_range(piece))
            ranges.push_back(std::move(*range));
    std::optional<std::size_t> chosen;
    int best = 0;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const int quality = quality_of(offers[i], ranges);
        if (quality > best) {
            best = quality;
            chosen = i;
        }
    }
    return chosen;
}

bool matches_etag(const http::request& received, std::string_view etag)
{
    const auto given = joined_header(received, "If-None-Match");
    if (!given)
        return false;
    if (trim(*given) == "*")
        return true;
    for (const auto& piece : split_outside_quotes(*given, ',')) {
        auto tag = trim(piece);
        if (tag.starts_with("W/"))
            tag.remove_prefix(2);
        if (tag == etag)
            return true;
    }
    return false;
}

std::string attachment_disposition(std::string_view filename)
{
    const auto name = file_name_of(filename);
    const auto plain = in_plain_ascii(name);
    std::string disposition = "attachment; filename=\"" + plain + "\"";
    if (plain != name)
        disposition += "; filename*=UTF-8''" + escape(name);
    return disposition;
}

} // namespace tempinbox::gateway
