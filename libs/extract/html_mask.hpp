#pragma once

#include <string>
#include <string_view>

namespace tempinbox::extract {

// HTML with everything but its visible text blanked out: as long as the source, so that positions stay what they are. Tags that
// end a block become a line break.
std::string mask_html(std::string_view html);

} // namespace tempinbox::extract
