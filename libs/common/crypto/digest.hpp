#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace tempinbox::crypto {

// 32 bytes each.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// SHA-256 of bytes that come piece by piece.
class sha256_digest
{
public:
    sha256_digest();
    void add(std::string_view bytes);
    // 32 bytes; nothing may be added afterwards.
    std::string finish();

private:
    struct deleter
    {
        void operator()(evp_md_ctx_st* context) const;
    };
    std::unique_ptr<evp_md_ctx_st, deleter> context_;
};

// From the kernel's generator.
std::string random_bytes(std::size_t count);

// In time that depends on the lengths alone.
bool equal_constant_time(std::string_view a, std::string_view b);

} // namespace tempinbox::crypto
