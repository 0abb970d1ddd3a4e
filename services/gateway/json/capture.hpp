#pragma once

#include "common/core/secret.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// Where mail to captures is sent, as their users see it.
struct capture_server
{
    std::string host; // empty: there are no captures
    std::vector<std::uint16_t> starttls_ports;
    std::vector<std::uint16_t> tls_ports;
    std::vector<std::uint16_t> clear_ports;

    bool has_ports() const
    {
        return !starttls_ports.empty() || !tls_ports.empty() || !clear_ports.empty();
    }
    bool is_set() const { return !host.empty() && has_ports(); }
};

// A login with all that a mail client is set up with. The password is known when it is made, and
// shown then alone.
std::string to_json(const inbox::v1::Login& login, const capture_server& server,
                    const secret& password);

} // namespace tempinbox::gateway
