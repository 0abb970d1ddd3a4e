#pragma once

#include "common/config/reader.hpp"
#include "mime/view.hpp"

namespace tempinbox::mime {

// `header-view-bytes`, `part-depth`, `parts`: must be the same for every
// program that reads mail, or a part that one finds is absent for another.
view_limits read_settings(config::reader& reader);

} // namespace tempinbox::mime
