#include "common/crypto/password.hpp"

#include <sodium.h>

#include <stdexcept>

namespace tempinbox::crypto {

std::string hash_password(const secret& password, const password_cost& cost)
{
    char text[crypto_pwhash_STRBYTES];
    const auto& plain = password.reveal();
    if (crypto_pwhash_str_alg(text, plain.data(), plain.size(), cost.passes, cost.memory,
                              crypto_pwhash_ALG_ARGON2ID13) != 0)
        throw std::runtime_error("there is no memory for a password's hash");
    return text;
}

bool password_matches(const std::string& hash, const secret& password)
{
    const auto& plain = password.reveal();
    return crypto_pwhash_str_verify(hash.c_str(), plain.data(), plain.size()) == 0;
}

} // namespace tempinbox::crypto
