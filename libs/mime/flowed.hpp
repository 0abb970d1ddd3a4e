#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// RFC 3676: the paragraphs of a text/plain with format=flowed, each on one line. Quoted paragraphs
// keep the marks of their first line; never longer than what was given; linear.
std::string unflow(std::string_view text, bool deletes_space);

} // namespace tempinbox::mime
