#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempinbox::mime {

// Content-Transfer-Encoding, RFC 2045 6.
enum class encoding { identity, base64, quoted_printable };

struct decoded
{
    std::string bytes;
    bool is_damaged = false; // characters outside the alphabet, bytes after the padding, a cut
                             // quantum or a bad escape
};

// Takes anything: base64 skips what is no alphabet and stops at the padding, a bad escape of
// quoted-printable stays as it is. Linear.
decoded decode(encoding how, std::string_view body);

// How many bytes `decode` would give, without keeping them.
std::size_t decoded_size(encoding how, std::string_view body, bool& is_damaged);

// The `Q` of RFC 2047 4.2: as quoted-printable, `_` is a blank.
std::string decode_q(std::string_view text);

} // namespace tempinbox::mime
