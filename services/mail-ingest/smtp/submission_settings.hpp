#pragma once

#include "common/core/network.hpp"
#include "common/tls/verification.hpp"
#include "mail-ingest/logins/logins.hpp"
#include "mail-ingest/smtp/client_limiter.hpp"
#include "mail-ingest/smtp/limits.hpp"

#include <string>
#include <vector>

namespace tempinbox::smtp {

// The ports where mail is taken from logins alone.
struct submission_settings
{
    std::vector<host_port> listen;       // with STARTTLS
    std::vector<host_port> tls_listen;   // under TLS from the first byte
    std::vector<host_port> clear_listen; // without TLS
    std::vector<network> clear_networks; // whom the last serves
    std::string certificate_file;
    std::string key_file;
    tls::client_view verified_by; // clients verify the certificate
    smtp::limits session;
    smtp::client_limits client_limits;
    mail_ingest::login_settings logins;
};

} // namespace tempinbox::smtp
