#pragma once

#include "common/config/reader.hpp"
#include "common/kafka/settings.hpp"
#include "common/postgres/pool.hpp"
#include "mail-ingest/ingest/ingest.hpp"
#include "mail-ingest/recipients/recipients.hpp"
#include "mail-ingest/smtp/client_limiter.hpp"
#include "mail-ingest/smtp/limits.hpp"
#include "mail-ingest/smtp/proxy_settings.hpp"
#include "mail-ingest/smtp/submission_settings.hpp"

#include <string>
#include <vector>

namespace tempinbox::mail_ingest {

struct settings
{
    postgres::settings database;
    std::size_t look_up_connections = 2;
    kafka::settings kafka;
    std::vector<host_port> smtp_listen;
    smtp::proxy_settings proxy;
    std::string tls_certificate_file;
    std::string tls_key_file;
    smtp::submission_settings submission;
    smtp::limits session;
    smtp::client_limits client_limits;
    recipient_settings recipients;
    ingest_settings ingest;

    bool takes_logins() const { return takes_logins_by_tls() || !submission.clear_listen.empty(); }
    bool takes_logins_by_tls() const
    {
        return !submission.listen.empty() || !submission.tls_listen.empty() ||
               !proxy.submission_listen.empty() || !proxy.submissions_listen.empty();
    }
};

settings read_settings(config::reader& reader);

} // namespace tempinbox::mail_ingest
