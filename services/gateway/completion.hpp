#pragma once

#include "common/runtime/completion.hpp"

namespace tempinbox::gateway {

using runtime::completion;

} // namespace tempinbox::gateway
