#pragma once

#include <string>
#include <string_view>

namespace tempinbox::crypto {

// 32 bytes each.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// From the kernel's generator.
std::string random_bytes(std::size_t count);

// In time that depends on the lengths alone.
bool equal_constant_time(std::string_view a, std::string_view b);

} // namespace tempinbox::crypto
