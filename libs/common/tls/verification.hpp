#pragma once

#include "common/core/errors.hpp"
#include "common/metrics/registry.hpp"

#include <string>

namespace tempinbox::tls {

// How clients of a server verify its certificate.
struct client_view
{
    std::string host;    // the name or IP address that they connect to; empty: not compared
    std::string ca_file; // the authorities that they trust (PEM); empty: the system's
};

// Whether such a client takes a certificate now: a PEM file of the server's own first, then those
// between it and its authority, as a server sends them. invalid_argument says why not, in OpenSSL's
// words. Reads files: not for each connection.
result<void> verify_as_client(const std::string& file, const client_view& view);

// Shows that as a metric of the setting that names the file, 1 or 0, and logs why not.
void show_verification(metrics::registry& metrics, const std::string& setting,
                       const std::string& file, const client_view& view);

} // namespace tempinbox::tls
