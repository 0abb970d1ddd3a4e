#pragma once

#include "common/config/reader.hpp"
#include "common/core/secret.hpp"
#include "common/mail/client.hpp"

#include <string>

namespace tempinbox::gateway {

// The mail server that takes the gateway's own mail. Not set: the gateway sends none.
struct relay_settings
{
    using protection = mail::server::protection;

    std::string server; // host:port
    protection tls = protection::starttls;
    std::string ca_file; // empty: the system's
    std::string from;
    std::string user;
    secret password;
    std::string password_file; // with the password; empty: it stays
    std::string dashboard_url; // as people see it, without a slash at the end: for links

    bool is_set() const { return !server.empty(); }
};

// The first line. Throws std::runtime_error that names the file if there is none.
secret read_relay_password(const std::string& file);

relay_settings read_relay_settings(config::reader& reader);

} // namespace tempinbox::gateway
