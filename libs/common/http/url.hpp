#pragma once

#include "common/core/errors.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::http {

// The parts of an absolute http or https URL that a client needs.
struct target_url
{
    bool is_tls = false;
    std::string host; // without brackets
    std::uint16_t port = 80;
    std::string target;    // path and query as written, "/" where empty; no fragment
    std::string authority; // for the Host header: the port only if not the scheme's default

    // Refuses other schemes, user info, and invalid hosts or ports.
    static result<target_url> parse(std::string_view text);
};

} // namespace tempinbox::http
