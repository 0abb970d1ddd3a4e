#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox {

// RFC 4648 section 4, padded; the reader is strict.
std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);
// Appends the same to `text`, many times faster, for large data that is not secret: its timing may
// reveal the bytes.
void append_base64(std::string& text, std::string_view bytes);

// RFC 4648 section 5, not padded; the reader is strict.
std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

// Lower case; the reader takes both cases and an even number of digits.
std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

} // namespace tempinbox
