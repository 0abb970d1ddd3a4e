#include "mime/web_characters.hpp"

#include "common/core/ascii.hpp"
#include "mime/converter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace tempinbox::mime {
namespace {

struct character
{
    std::uint16_t code; // one byte, or two
    char16_t meaning;
};

// In the order of their codes.
constexpr character koi8_u[] = {{0xae, 0x045e}, {0xbe, 0x040e}};
constexpr character macintosh[] = {{0xc6, 0x2206}, {0xf0, 0xf8ff}};
constexpr character mac_cyrillic[] = {{0xff, 0x20ac}};
constexpr character windows_1255[] = {{0xca, 0x05ba}};
constexpr character gb18030[] = {{0x80, 0x20ac}, {0xa3a0, 0x3000}};
// https://encoding.spec.whatwg.org/index-big5.txt: signs by the reading of Microsoft, and letters
// that later versions of HKSCS have under another code.
constexpr character big5[] = {
    {0x8e69, 0x7bb8}, {0x8e6f, 0x7c06}, {0x8e7e, 0x7cce}, {0x8eab, 0x7dd2}, {0x8eb4, 0x7e1d},
    {0x8ecd, 0x8005}, {0x8ed0, 0x8028}, {0x8f57, 0x83c1}, {0x8f69, 0x84a8}, {0x8f6e, 0x840f},
    {0x8fcb, 0x89a6}, {0x8fcc, 0x89a9}, {0x8ffe, 0x8d77}, {0x906d, 0x90fd}, {0x907a, 0x92b9},
    {0x90dc, 0x975c}, {0x90f1, 0x97ff}, {0x91bf, 0x9f16}, {0x9244, 0x8503}, {0x92af, 0x5159},
    {0x92b0, 0x515b}, {0x92b1, 0x515d}, {0x92b2, 0x515e}, {0x92c8, 0x936e}, {0x92d1, 0x7479},
    {0x9447, 0x6d67}, {0x94ca, 0x799b}, {0x95d9, 0x9097}, {0x9644, 0x975d}, {0x96ed, 0x701e},
    {0x96fc, 0x5b28}, {0x9b76, 0x7201}, {0x9b78, 0x77d7}, {0x9b7b, 0x7e87}, {0x9bc6, 0x99d6},
    {0x9bde, 0x91d4}, {0x9bec, 0x60de}, {0x9bf6, 0x6fb6}, {0x9c42, 0x8f36}, {0x9c53, 0x4fbb},
    {0x9c62, 0x71df}, {0x9c68, 0x9104}, {0x9c6b, 0x9df0}, {0x9c77, 0x83cf}, {0x9cbc, 0x5c10},
    {0x9cbd, 0x79e3}, {0x9cd0, 0x5a67}, {0x9d57, 0x8f0b}, {0x9d5a, 0x7b51}, {0x9dc4, 0x62d0},
    {0x9ea9, 0x6062}, {0x9eef, 0x75f9}, {0x9efd, 0x6c4a}, {0x9f60, 0x9b2e}, {0x9f66, 0x9f17},
    {0x9fcb, 0x50ed}, {0x9fd8, 0x5f0c}, {0xa063, 0x880f}, {0xa077, 0x62ce}, {0xa0d5, 0x7468},
    {0xa0df, 0x7162}, {0xa0e4, 0x7250}, {0xa145, 0x2027}, {0xa14e, 0xfe51}, {0xa15a, 0x2574},
    {0xa1c2, 0x00af}, {0xa1c3, 0xffe3}, {0xa1c5, 0x02cd}, {0xa1e3, 0xff5e}, {0xa1f2, 0x2295},
    {0xa1f3, 0x2299}, {0xa1fe, 0xff0f}, {0xa240, 0xff3c}, {0xa241, 0x2215}, {0xa242, 0xfe68},
    {0xa244, 0xffe5}, {0xa246, 0xffe0}, {0xa247, 0xffe1}, {0xa2cc, 0x5341}, {0xa2ce, 0x5345},
    {0xa3c0, 0x2400}, {0xa3c1, 0x2401}, {0xa3c2, 0x2402}, {0xa3c3, 0x2403}, {0xa3c4, 0x2404},
    {0xa3c5, 0x2405}, {0xa3c6, 0x2406}, {0xa3c7, 0x2407}, {0xa3c8, 0x2408}, {0xa3c9, 0x2409},
    {0xa3ca, 0x240a}, {0xa3cb, 0x240b}, {0xa3cc, 0x240c}, {0xa3cd, 0x240d}, {0xa3ce, 0x240e},
    {0xa3cf, 0x240f}, {0xa3d0, 0x2410}, {0xa3d1, 0x2411}, {0xa3d2, 0x2412}, {0xa3d3, 0x2413},
    {0xa3d4, 0x2414}, {0xa3d5, 0x2415}, {0xa3d6, 0x2416}, {0xa3d7, 0x2417}, {0xa3d8, 0x2418},
    {0xa3d9, 0x2419}, {0xa3da, 0x241a}, {0xa3db, 0x241b}, {0xa3dc, 0x241c}, {0xa3dd, 0x241d},
    {0xa3de, 0x241e}, {0xa3df, 0x241f}, {0xa3e0, 0x2421}, {0xa3e1, 0x20ac}, {0xc6cf, 0x5ef4},
    {0xc6d3, 0x65e0}, {0xc6d5, 0x7676}, {0xc6d7, 0x96b6}, {0xc6de, 0x3003}, {0xc6df, 0x4edd},
    {0xfa5f, 0x5029}, {0xfa66, 0x507d}, {0xfabd, 0x5305}, {0xfac5, 0x5344}, {0xfad5, 0x537f},
    {0xfb48, 0x5605}, {0xfbb8, 0x5a77}, {0xfbf3, 0x5e75}, {0xfbf9, 0x5ed0}, {0xfc4f, 0x5f58},
    {0xfc6c, 0x60a4}, {0xfcb9, 0x6490}, {0xfce2, 0x6674}, {0xfcf1, 0x675e}, {0xfdb7, 0x6c9c},
    {0xfdb8, 0x6e1d}, {0xfdbb, 0x6e2f}, {0xfdf1, 0x716e}, {0xfe52, 0x732a}, {0xfe6f, 0x745c},
    {0xfeaa, 0x74e9}, {0xfedd, 0x7809}};

// How long its characters are: a byte; or two bytes past 0x80; or also four (GB 18030).
enum class length { byte, pair, quad };

struct charset
{
    std::string_view name; // iconv's
    length longest = length::byte;
    std::span<const character> characters;
};

constexpr charset charsets[] = {
    {"KOI8-U", length::byte, koi8_u},       {"MACINTOSH", length::byte, macintosh},
    {"MAC-UK", length::byte, mac_cyrillic}, {"WINDOWS-1255", length::byte, windows_1255},
    {"GB18030", length::quad, gb18030},     {"BIG5-HKSCS", length::pair, big5}};

void append(std::string& text, char16_t character)
{
    const auto low = static_cast<char>(0x80 | (character & 0x3f));
    if (character < 0x800) {
        text.append({static_cast<char>(0xc0 | character >> 6), low});
    } else {
        const auto middle = static_cast<char>(0x80 | (character >> 6 & 0x3f));
        text.append({static_cast<char>(0xe0 | character >> 12), middle, low});
    }
}

// The bytes of the character that a text begins with.
std::size_t length_of(std::string_view text, length longest)
{
    const auto first = static_cast<unsigned char>(text[0]);
    if (longest == length::byte || first <= 0x80 || first == 0xff || text.size() < 2)
        return 1;
    if (longest == length::quad && is_digit(text[1]))
        return std::min<std::size_t>(text.size(), 4);
    return static_cast<unsigned char>(text[1]) < 0x40 ? 1 : 2;
}

std::uint16_t code_of(std::string_view bytes)
{
    std::uint16_t code = 0;
    for (const char c : bytes)
        code = static_cast<std::uint16_t>(code << 8 | static_cast<unsigned char>(c));
    return code;
}

} // namespace

std::string convert_as_web(const char* charset, std::string_view bytes)
{
    const auto* const known =
        std::find_if(std::begin(charsets), std::end(charsets),
                     [charset](const auto& one) { return one.name == charset; });
    if (known == std::end(charsets))
        return convert(charset, bytes);
    std::string text;
    std::size_t from = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const auto length = length_of(bytes.substr(at), known->longest);
        const auto code = code_of(bytes.substr(at, length));
        const auto found = std::lower_bound(
            known->characters.begin(), known->characters.end(), code,
            [](const character& one, std::uint16_t value) { return one.code < value; });
        if (length <= 2 && found != known->characters.end() && found->code == code) {
            text += convert(charset, bytes.substr(from, at - from));
            append(text, found->meaning);
            from = at + length;
        }
        at += length;
    }
    text += convert(charset, bytes.substr(from));
    return text;
}

} // namespace tempinbox::mime
