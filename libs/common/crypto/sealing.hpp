#pragma once

#include "common/core/errors.hpp"
#include "common/core/secret.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::crypto {

// The operator's master keys: seals secrets at rest (libsodium XChaCha20-Poly1305). The first key
// seals, every key opens, so keys can be rotated. A sealed value is `keyId:base64url(nonce || box)`
// and is bound to a context such as the id of the row that holds it.
class keyring
{
public:
    static constexpr std::size_t max_keys = 32;

    // One `id:base64-of-32-bytes` a line, each id once; blank lines and `#` comments are skipped.
    // The failure names the line, never its content.
    static result<keyring> parse(std::string_view text);

    // The id of the key that seals.
    const std::string& current_key() const { return keys_.front().id; }
    // The ids of all keys, in their order.
    std::vector<std::string> ids() const;
    // The id of the key that sealed a value.
    static std::string_view key_of(std::string_view sealed)
    {
        return sealed.substr(0, sealed.find(':'));
    }

    std::string seal(const secret& plain, std::string_view context) const;
    // Fails if the key is unknown, or if the value or its context was altered.
    result<secret> open(std::string_view sealed, std::string_view context) const;

private:
    struct master_key
    {
        std::string id;
        std::string bytes;
    };

    const master_key* find(std::string_view id) const;

    std::vector<master_key> keys_;
};

} // namespace tempinbox::crypto
