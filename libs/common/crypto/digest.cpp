#include "common/crypto/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>

#include <stdexcept>

namespace tempinbox::crypto {

std::string sha256(std::string_view bytes)
{
    std::string digest(32, '\0');
    unsigned length = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                   &length, EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("SHA-256 failed");
    return digest;
}

void sha256_digest::deleter::operator()(evp_md_ctx_st* context) const
{
    EVP_MD_CTX_free(context);
}

sha256_digest::sha256_digest() : context_(EVP_MD_CTX_new())
{
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("SHA-256 failed");
}

void sha256_digest::add(std::string_view bytes)
{
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
        throw std::runtime_error("SHA-256 failed");
}

std::string sha256_digest::finish()
{
    std::string digest(32, '\0');
    unsigned length = 0;
    if (EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                           &length) != 1)
        throw std::runtime_error("SHA-256 failed");
    return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes)
{
    std::string digest(32, '\0');
    unsigned length = 0;
    if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
             reinterpret_cast<unsigned char*>(digest.data()), &length) == nullptr)
        throw std::runtime_error("HMAC-SHA-256 failed");
    return digest;
}

std::string random_bytes(std::size_t count)
{
    std::string bytes(count, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    return bytes;
}

bool equal_constant_time(std::string_view a, std::string_view b)
{
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace tempinbox::crypto
