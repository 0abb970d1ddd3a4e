#pragma once

#include "common/core/secret.hpp"

#include <cstddef>
#include <string>

namespace tempinbox::crypto {

// What one argon2id computation costs: libsodium's numbers for interactive use, about 0.1 s of a
// processor.
struct password_cost
{
    unsigned long long passes = 2;
    std::size_t memory = 64 * 1024 * 1024;
};

// argon2id (RFC 9106) with a fresh salt, as one text that names its parameters. Slow: keep it off
// event loops. Throws if the memory cannot be allocated.
std::string hash_password(const secret& password, const password_cost& cost = {});

// Whether the password made the hash. A hash that cannot be read matches nothing.
bool password_matches(const std::string& hash, const secret& password);

} // namespace tempinbox::crypto
