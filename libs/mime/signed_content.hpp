#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::mime {

// What a CMS SignedData (RFC 5652 5, in DER or BER) holds: the entity of an opaque S/MIME signature
// (RFC 8551 3.5.2). Nothing is verified. Absent for other bytes, and for a SignedData without
// content. Linear, no more memory than the content.
std::optional<std::string> signed_content(std::string_view cms);

} // namespace tempinbox::mime
