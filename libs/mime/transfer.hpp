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

// Accepts any bytes: base64 skips characters outside the alphabet and stops at the padding; a bad
// escape of quoted-printable stays as it is. Linear.
decoded decode(encoding how, std::string_view body);

// The number of bytes `decode` would return, without storing them.
std::size_t decoded_size(encoding how, std::string_view body, bool& is_damaged);

struct decoded_summary
{
    std::size_t size = 0;
    std::string sha256; // 32 bytes
    bool is_damaged = false;
};

// The same with the digest of those bytes, which are never stored together.
decoded_summary digest_decoded(encoding how, std::string_view body);

// The `Q` encoding of RFC 2047 4.2: quoted-printable with `_` for a blank.
std::string decode_q(std::string_view text);

} // namespace tempinbox::mime
