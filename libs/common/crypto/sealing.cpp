#include "common/crypto/sealing.hpp"

#include "common/core/encoding.hpp"
#include "common/core/text.hpp"
#include "common/crypto/digest.hpp"

#include <sodium.h>

#include <algorithm>

namespace tempinbox::crypto {
namespace {

const unsigned char* raw(std::string_view text)
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

} // namespace

result<keyring> keyring::parse(std::string_view text)
{
    keyring ring;
    int number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = trim(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.empty() || line.front() == '#')
            continue;
        const auto colon = line.find(':');
        const auto bytes = colon == std::string_view::npos
                               ? std::nullopt
                               : from_base64(trim(line.substr(colon + 1)));
        if (!bytes || bytes->size() != crypto_aead_xchacha20poly1305_ietf_KEYBYTES || colon == 0)
            return failure{errc::invalid_argument, "line " + std::to_string(number) +
                                                       " must be `id:` and 32 bytes in base64"};
        const auto id = line.substr(0, colon);
        if (ring.find(id) != nullptr)
            return failure{errc::invalid_argument,
                           "line " + std::to_string(number) + " repeats the id of another line"};
        ring.keys_.push_back(master_key{std::string(id), *bytes});
    }
    if (ring.keys_.size() > max_keys)
        return failure{errc::invalid_argument, "more than " + std::to_string(max_keys) + " keys"};
    if (ring.keys_.empty())
        return failure{errc::invalid_argument,
                       "no key found; write one line `id:` and 32 random bytes in base64"};
    return ring;
}

std::vector<std::string> keyring::ids() const
{
    std::vector<std::string> found;
    found.reserve(keys_.size());
    for (const auto& key : keys_)
        found.push_back(key.id);
    return found;
}

const keyring::master_key* keyring::find(std::string_view id) const
{
    const auto key = std::find_if(keys_.begin(), keys_.end(),
                                  [id](const master_key& candidate) { return candidate.id == id; });
    return key == keys_.end() ? nullptr : &*key;
}

std::string keyring::seal(const secret& plain, std::string_view context) const
{
    const auto& key = keys_.front();
    const std::string nonce = random_bytes(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
    std::string box(plain.reveal().size() + crypto_aead_xchacha20poly1305_ietf_ABYTES, '\0');
    unsigned long long length = 0;
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        reinterpret_cast<unsigned char*>(box.data()), &length, raw(plain.reveal()),
        plain.reveal().size(), raw(context), context.size(), nullptr, raw(nonce), raw(key.bytes));
    return key.id + ":" + to_base64url(nonce + box);
}

result<secret> keyring::open(std::string_view sealed, std::string_view context) const
{
    const auto colon = sealed.find(':');
    const auto id = sealed.substr(0, colon);
    const auto* key = find(id);
    if (colon == std::string_view::npos || key == nullptr)
        return failure{errc::internal,
                       "sealed with a master key this service does not have: " + quote(id)};
    const auto packed = from_base64url(sealed.substr(colon + 1));
    constexpr std::size_t nonce_size = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
    constexpr std::size_t tag_size = crypto_aead_xchacha20poly1305_ietf_ABYTES;
    if (!packed || packed->size() < nonce_size + tag_size)
        return failure{errc::internal, "a sealed value is damaged"};
    const std::string_view box = std::string_view(*packed).substr(nonce_size);
    std::string plain(box.size() - tag_size, '\0');
    unsigned long long length = 0;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            reinterpret_cast<unsigned char*>(plain.data()), &length, nullptr, raw(box), box.size(),
            raw(context), context.size(), raw(*packed), raw(key->bytes)) != 0)
        return failure{errc::internal,
                       "a sealed value does not open: altered, or moved to another row"};
    return secret{std::move(plain)};
}

} // namespace tempinbox::crypto
