#pragma once

#include <string>
#include <string_view>

namespace tempinbox::html {

// The host that a browser connects to for a link, in lower case, in ASCII (`xn--…`) and with its
// port: user info, backslashes and blanks are read as browsers read them (WHATWG URL 4.4). Empty if
// the link does not lead to the web.
std::string link_host(std::string_view url);

} // namespace tempinbox::html
