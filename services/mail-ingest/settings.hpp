#pragma once

#include "common/config/reader.hpp"
#include "common/kafka/settings.hpp"
#include "common/postgres/pool.hpp"
#include "mail-ingest/directory/directory.hpp"
#include "mail-ingest/intake/intake.hpp"
#include "mail-ingest/smtp/callers.hpp"
#include "mail-ingest/smtp/limits.hpp"

#include <string>
#include <vector>

namespace tempinbox::mail_ingest {

struct settings
{
    postgres::settings database;
    std::size_t look_up_connections = 2;
    kafka::settings kafka;
    std::vector<host_port> smtp_listen;
    std::string tls_certificate_file;
    std::string tls_key_file;
    smtp::limits session;
    smtp::caller_limits callers;
    directory_settings directory;
    intake_settings intake;
};

settings read_settings(config::reader& reader);

} // namespace tempinbox::mail_ingest
