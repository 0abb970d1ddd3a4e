#include "common/credentials/checked_token.hpp"

#include "common/crypto/digest.hpp"

#include <boost/crc.hpp>

#include <cstdint>

namespace tempinbox::credentials {
namespace {

constexpr std::size_t random_characters = 32;
constexpr std::size_t checksum_characters = 6;
constexpr std::string_view base62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// CRC-32 in base62, most significant first; 62^6 is above 2^32.
std::string checksum_of(std::string_view text)
{
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    std::uint32_t rest = crc.checksum();
    std::string digits(checksum_characters, '0');
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
        *digit = base62[rest % base62.size()];
        rest /= static_cast<std::uint32_t>(base62.size());
    }
    return digits;
}

} // namespace

std::string random_text(std::size_t count, std::string_view alphabet)
{
    // From the largest multiple of the alphabet's size in a byte on, a byte is drawn again, so that
    // every character is as likely.
    const std::size_t limit = 256 - 256 % alphabet.size();
    std::string text;
    text.reserve(count);
    while (text.size() < count) {
        for (const char byte : crypto::random_bytes(count)) {
            const auto value = static_cast<unsigned char>(byte);
            if (value < limit && text.size() < count)
                text.push_back(alphabet[value % alphabet.size()]);
        }
    }
    return text;
}

secret make_checked_token(std::string_view prefix)
{
    std::string token(prefix);
    token += random_text(random_characters, base62);
    token += checksum_of(token);
    return secret{std::move(token)};
}

bool is_checked_token(std::string_view text, std::string_view prefix)
{
    if (text.size() != prefix.size() + random_characters + checksum_characters ||
        !text.starts_with(prefix))
        return false;
    if (text.substr(prefix.size()).find_first_not_of(base62) != std::string_view::npos)
        return false;
    return checksum_of(text.substr(0, text.size() - checksum_characters)) ==
           text.substr(text.size() - checksum_characters);
}

} // namespace tempinbox::credentials
