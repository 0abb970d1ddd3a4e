#pragma once

#include "common/core/errors.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::ctl {

// The hosts of a name's MX records, in lower case and in the order of the reply; none if it has no
// such record or does not exist. `name_server`: an IP address, with a port or without; empty: the
// system's. Fails with invalid_argument if that is no address, with unavailable if no server says
// so within `timeout`. Blocks.
result<std::vector<std::string>> find_mail_exchangers(const std::string& name,
                                                      const std::string& name_server,
                                                      std::chrono::milliseconds timeout);

} // namespace tempinbox::ctl
