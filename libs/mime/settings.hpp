#pragma once

#include "common/config/reader.hpp"
#include "mime/view.hpp"

namespace tempinbox::mime {

// `header-view-bytes`, `header-view-lines`, `part-depth`, `parts`: the same for every program that
// reads mail, or what is found in a message once is not found again.
view_limits read_settings(config::reader& reader);

} // namespace tempinbox::mime
