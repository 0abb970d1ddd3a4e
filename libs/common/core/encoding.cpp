#include "common/core/encoding.hpp"

#include <sodium.h>

#include <algorithm>

namespace tempinbox {
namespace {

const unsigned char* unsigned_bytes(std::string_view bytes)
{
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string encode(std::string_view bytes, int variant)
{
    std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(text.data(), text.size(), unsigned_bytes(bytes), bytes.size(), variant);
    text.pop_back(); // the terminating zero
    return text;
}

std::optional<std::string> decode(std::string_view text, int variant)
{
    // libsodium 1.0.18 takes some bytes past ASCII for digits.
    if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
        return std::nullopt;
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    std::size_t length = 0;
    const char* end = nullptr;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(), nullptr,
                          &length, &end, variant) != 0 ||
        end != text.data() + text.size())
        return std::nullopt;
    bytes.resize(length);
    return bytes;
}

} // namespace

std::string to_base64(std::string_view bytes)
{
    return encode(bytes, sodium_base64_VARIANT_ORIGINAL);
}

std::optional<std::string> from_base64(std::string_view text)
{
    return decode(text, sodium_base64_VARIANT_ORIGINAL);
}

std::string to_base64url(std::string_view bytes)
{
    return encode(bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

std::optional<std::string> from_base64url(std::string_view text)
{
    return decode(text, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

std::string to_hex(std::string_view bytes)
{
    std::string text(bytes.size() * 2 + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), unsigned_bytes(bytes), bytes.size());
    text.pop_back();
    return text;
}

std::optional<std::string> from_hex(std::string_view text)
{
    std::string bytes(text.size() / 2, '\0');
    std::size_t length = 0;
    const char* end = nullptr;
    if (text.size() % 2 != 0 ||
        sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(), nullptr, &length,
                       &end) != 0 ||
        end != text.data() + text.size())
        return std::nullopt;
    return bytes;
}

} // namespace tempinbox
