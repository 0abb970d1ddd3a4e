#include "mime/filename.hpp"

#include "common/core/text.hpp"

namespace tempinbox::mime {
namespace {

constexpr std::size_t max_bytes = 255;

struct known_type
{
    std::string_view type;
    std::string_view extension;
};

constexpr known_type extensions[] = {
    {"text/plain", "txt"},
    {"text/html", "html"},
    {"text/calendar", "ics"},
    {"text/csv", "csv"},
    {"text/vcard", "vcf"},
    {"text/xml", "xml"},
    {"application/pdf", "pdf"},
    {"application/json", "json"},
    {"application/zip", "zip"},
    {"application/xml", "xml"},
    {"application/ms-tnef", "dat"},
    {"application/pgp-signature", "asc"},
    {"application/pkcs7-signature", "p7s"},
    {"message/rfc822", "eml"},
    {"message/global", "eml"},
    {"message/delivery-status", "txt"},
    {"message/feedback-report", "txt"},
    {"image/png", "png"},
    {"image/jpeg", "jpg"},
    {"image/gif", "gif"},
    {"image/webp", "webp"},
    {"image/svg+xml", "svg"},
    {"audio/mpeg", "mp3"},
    {"video/mp4", "mp4"},
};

// Bidirectional controls, zero-width characters, line and paragraph separators: U+061C, 200B–200F,
// 2028–202E, 2060–2069, FEFF.
bool is_deceiving(std::string_view character)
{
    if (character.size() != 3)
        return character == "\xd8\x9c";
    const auto third = static_cast<unsigned char>(character[2]);
    if (character.starts_with("\xe2\x80"))
        return (third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae);
    if (character.starts_with("\xe2\x81"))
        return third >= 0xa0 && third <= 0xa9;
    return character == "\xef\xbb\xbf";
}

bool is_control(std::string_view character)
{
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1)
        return first < 0x20 || first == 0x7f;
    return character.size() == 2 && first == 0xc2 &&
           static_cast<unsigned char>(character[1]) < 0xa0;
}

} // namespace

std::string safe_filename(std::string_view given)
{
    const auto text = to_clean_utf8(given);
    std::string_view rest = text;
    if (const auto slash = rest.find_last_of("/\\"); slash != std::string_view::npos)
        rest.remove_prefix(slash + 1);
    std::string name;
    while (!rest.empty()) {
        const auto character = take_characters(rest, 1);
        if (!is_control(character) && !is_deceiving(character))
            name += character;
        rest.remove_prefix(character.size());
    }
    auto kept = trim(name);
    if (kept.size() > max_bytes) {
        // Keep the extension when cutting: it says what the file is.
        const auto dot = kept.rfind('.');
        const auto extension = dot != std::string_view::npos && kept.size() - dot <= 16
                                   ? kept.substr(dot)
                                   : std::string_view{};
        return std::string(take_bytes(kept, max_bytes - extension.size())) + std::string(extension);
    }
    return kept.find_first_not_of(". ") == std::string_view::npos ? std::string()
                                                                  : std::string(kept);
}

std::string made_up_filename(int number, std::string_view content_type)
{
    std::string_view extension = "bin";
    for (const auto& known : extensions)
        if (known.type == content_type)
            extension = known.extension;
    return "unnamed-" + std::to_string(number) + "." + std::string(extension);
}

} // namespace tempinbox::mime
