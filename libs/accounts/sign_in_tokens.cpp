#include "accounts/sign_in_tokens.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"

#include <cstdint>

namespace tempinbox::accounts {
namespace {

constexpr std::size_t token_bytes = 32;
constexpr std::size_t code_digits = 8;

} // namespace

secret make_session_token()
{
    return secret(to_base64url(crypto::random_bytes(token_bytes)));
}

std::string session_digest(std::string_view token)
{
    return crypto::sha256(token);
}

secret make_sign_up_code()
{
    // With 64 random bits, no digit is noticeably likelier than another.
    std::uint64_t number = 0;
    for (const char byte : crypto::random_bytes(sizeof number))
        number = number << 8 | static_cast<unsigned char>(byte);
    std::string code(code_digits, '0');
    for (auto& digit : code) {
        digit = static_cast<char>('0' + number % 10);
        number /= 10;
    }
    return secret(std::move(code));
}

std::string sign_up_code_digest(std::string_view email, std::string_view code)
{
    return crypto::sha256(std::string(email).append("\n").append(code));
}

} // namespace tempinbox::accounts
