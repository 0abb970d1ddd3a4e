#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// A name that is safe to show and to offer for saving: the last path component, without control and
// bidirectional characters, at most 255 bytes. Empty if nothing is left.
std::string safe_filename(std::string_view given);

// `unnamed-3.pdf`
std::string made_up_filename(int number, std::string_view content_type);

} // namespace tempinbox::mime
