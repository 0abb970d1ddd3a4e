#pragma once

#include "mime/structure.hpp"

#include <vector>

namespace tempinbox::mime {

// Which parts are shown, and which are files (RFC 8621 4.1.4): indices into `structure::parts`, in
// the order in which they stand in the message.
struct bodies
{
    std::vector<int> text; // what a reader without HTML shows: text/plain and text/html
    std::vector<int> html; // what one with HTML shows
    std::vector<int> attachments;
};

bodies find_bodies(const structure& from);

} // namespace tempinbox::mime
