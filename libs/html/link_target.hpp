#pragma once

#include <string>
#include <string_view>

namespace tempinbox::html {

// Where a link leads, as browsers take it: its `href` without line breaks, tabs and surrounding
// blanks, resolved by the page's base (RFC 3986 5.2). A mail has no address of its own, so without
// a base `//HOST/…` is taken as https and other relative references stay as they are. Empty if the
// tag has none.
std::string link_target(std::string_view tag, std::string_view base);

} // namespace tempinbox::html
