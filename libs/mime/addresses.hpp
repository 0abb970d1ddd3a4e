#pragma once

#include "mime/view.hpp"

#include <string_view>
#include <vector>

namespace tempinbox::mime {

// `local@domain` and nothing else. Dots at odd places of the local part pass: such addresses were given out.
bool is_address(std::string_view text);

// The addresses of a field, at most `most`, groups flattened (RFC 5322 3.4). Nothing is dropped: an entry that is no address is
// kept whole, as it was written. The value comes unfolded, in UTF-8 and without NUL; linear in its length, no recursion.
std::vector<mailbox_address> parse_addresses(std::string_view value, std::size_t most);

} // namespace tempinbox::mime
