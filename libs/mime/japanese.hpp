#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// ISO-2022-JP as mail has it: with the signs of NEC's row 13, half-width kana in all their forms
// (Microsoft's 50220 to 50222), and the sets of ISO-2022-JP-1 and -2 (RFC 1468, 1554, 2237).
std::string decode_iso_2022_jp(std::string_view bytes);

// EUC-JP with the rows of NEC and IBM, as on the web.
std::string decode_euc_jp(std::string_view bytes);

} // namespace tempinbox::mime
