#pragma once

#include "mime/view.hpp"

#include <string_view>
#include <vector>

namespace tempinbox::mime {

// `local@domain` and nothing else; the local part may be words and quoted strings with dots between
// (RFC 5322 4.4). Misplaced dots are accepted: such addresses were given out. An encoded word is
// none.
bool is_address(std::string_view text);

struct address_list
{
    std::vector<email_address> addresses;
    bool lacks_comma = false; // at least once between two addresses
};

// The addresses of a field, at most `max_addresses`, with groups flattened (RFC 5322 3.4) and
// comments anywhere. Nothing is dropped: an entry that is no address is kept whole, as written. The
// value must be unfolded, in UTF-8 and without NUL. Linear in its length, no recursion.
address_list parse_addresses(std::string_view value, std::size_t max_addresses);

} // namespace tempinbox::mime
