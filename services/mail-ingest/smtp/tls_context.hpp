#pragma once

#include "common/tls/certificate.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::smtp {

// The certificate for STARTTLS: TLS 1.2 or later, opportunistic. The files are checked at most once
// a second and reloaded when they changed; if they cannot be read the old certificate stays in use.
// Without files STARTTLS is not offered.
class tls_context
{
public:
    // Throws if the files are set and cannot be used.
    tls_context(metrics::registry& metrics, const std::string& certificate_file,
                const std::string& key_file);

    bool is_available() const { return certificate_ != nullptr; }
    // The context for a handshake that begins now.
    std::shared_ptr<boost::asio::ssl::context> current();

private:
    std::unique_ptr<tls::certificate> certificate_;
    std::chrono::steady_clock::time_point checked_at_;
};

} // namespace tempinbox::smtp
