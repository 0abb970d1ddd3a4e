#include "accounts/api_key.hpp"

#include "common/crypto/digest.hpp"

#include <boost/crc.hpp>

#include <algorithm>

namespace tempinbox::accounts {
namespace {

constexpr std::string_view scheme = "ti_live_";
constexpr std::size_t random_characters = 32;
constexpr std::size_t checksum_characters = 6;
constexpr std::size_t shown_characters = 4;
constexpr std::string_view base62 =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::string random_base62(std::size_t count)
{
    // 248 is the largest multiple of 62 in a byte: above it the byte is drawn again, so that every
    // character is as likely.
    constexpr unsigned char limit = 248;
    std::string text;
    text.reserve(count);
    while (text.size() < count) {
        for (const char byte : crypto::random_bytes(count)) {
            const auto value = static_cast<unsigned char>(byte);
            if (value < limit && text.size() < count)
                text.push_back(base62[value % base62.size()]);
        }
    }
    return text;
}

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

secret make_api_key()
{
    std::string key(scheme);
    key += random_base62(random_characters);
    key += checksum_of(key);
    return secret{std::move(key)};
}

bool is_well_formed_api_key(std::string_view text)
{
    if (text.size() != scheme.size() + random_characters + checksum_characters ||
        !text.starts_with(scheme))
        return false;
    const auto body = text.substr(scheme.size());
    if (body.find_first_not_of(base62) != std::string_view::npos)
        return false;
    return checksum_of(text.substr(0, text.size() - checksum_characters)) ==
           text.substr(text.size() - checksum_characters);
}

std::string api_key_digest(std::string_view key)
{
    return crypto::sha256(key);
}

std::string api_key_prefix(std::string_view key)
{
    return std::string(key.substr(0, scheme.size() + shown_characters));
}

} // namespace tempinbox::accounts
