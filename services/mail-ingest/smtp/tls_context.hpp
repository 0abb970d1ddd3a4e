#pragma once

#include "common/tls/certificate.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace tempinbox::smtp {

// The certificate of STARTTLS: TLS 1.2 or later, opportunistic. Looked at again at most once a
// second and read anew when the files changed; files that cannot be read then leave the old one in
// use. Without files there is no STARTTLS.
class tls_context
{
public:
    // Throws when the files are set and cannot be used.
    tls_context(const std::string& certificate_file, const std::string& key_file);

    bool is_available() const { return certificate_ != nullptr; }
    // What a handshake that begins now uses.
    std::shared_ptr<boost::asio::ssl::context> current();

private:
    std::unique_ptr<tls::certificate> certificate_;
    std::chrono::steady_clock::time_point checked_at_;
};

} // namespace tempinbox::smtp
