#pragma once

#include <string>
#include <string_view>

namespace tempinbox::mime {

// RFC 3676: joins the paragraphs of a text/plain with format=flowed, each to one line. Quoted
// paragraphs keep the quote marks of their first line. The result is never longer than the input;
// linear.
std::string unflow(std::string_view text, bool deletes_space);

} // namespace tempinbox::mime
