#include "common/core/version.hpp"

namespace tempinbox {

std::string_view version()
{
    return TEMPINBOX_VERSION;
}

} // namespace tempinbox
