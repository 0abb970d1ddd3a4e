#include "common/core/encoding.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>

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
    // libsodium 1.0.18 accepts some non-ASCII bytes as digits.
    if (std::any_of(text.begin(), text.end(),
                    [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
        return std::nullopt;
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    std::size_t length = 0;
    const char* end = nullptr;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                          text.size(), nullptr, &length, &end, variant) != 0 ||
        end != text.data() + text.size())
        return std::nullopt;
    bytes.resize(length);
    return bytes;
}

// The two characters for every value of 12 bits.
using pair_table = std::array<std::array<char, 2>, 4096>;

const pair_table& base64_pairs()
{
    static const pair_table table = [] {
        constexpr std::string_view alphabet =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        pair_table pairs{};
        for (std::size_t i = 0; i < pairs.size(); ++i)
            pairs[i] = {alphabet[i >> 6], alphabet[i & 63]};
        return pairs;
    }();
    return table;
}

} // namespace

void append_base64(std::string& text, std::string_view bytes)
{
    const auto& pairs = base64_pairs();
    const auto start = text.size();
    const std::size_t whole = bytes.size() / 3 * 3;
    text.resize(start + whole / 3 * 4);
    char* out = text.data() + start;
    const unsigned char* in = unsigned_bytes(bytes);
    for (const unsigned char* end = in + whole; in != end; in += 3, out += 4) {
        const unsigned group =
            static_cast<unsigned>(in[0]) << 16 | static_cast<unsigned>(in[1]) << 8 | in[2];
        std::memcpy(out, pairs[group >> 12].data(), 2);
        std::memcpy(out + 2, pairs[group & 0xfff].data(), 2);
    }
    if (whole != bytes.size())
        text += to_base64(bytes.substr(whole));
}

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
        sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                       text.size(), nullptr, &length, &end) != 0 ||
        end != text.data() + text.size())
        return std::nullopt;
    return bytes;
}

} // namespace tempinbox
