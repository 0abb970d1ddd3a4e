#pragma once

#include "common/config/reader.hpp"
#include "common/kafka/settings.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/tls.hpp"
#include "mailbox/types.hpp"
#include "mime/view.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tempinbox::inbox {

struct settings
{
    postgres::settings database;
    kafka::settings kafka;
    host_port rpc_listen;
    std::string rpc_token_file;
    rpc::tls_settings rpc_tls;
    std::chrono::seconds quarantine{std::chrono::hours(24 * 30)};
    std::chrono::milliseconds purge_interval{2'000};
    int mail_readers = 2;
    std::size_t reading_bytes = 256 * 1024 * 1024; // of messages being read at one time
    std::size_t view_cache_bytes = 16 * 1024 * 1024;
    std::size_t text_cache_bytes = 16 * 1024 * 1024;
    std::size_t search_bytes = 16 * 1024 * 1024; // of messages that one page or poll opens
    std::chrono::milliseconds search_time{400};
    mime::view_limits view;
    mailbox::inbox_bounds inbox_bounds;
    std::vector<std::string> reserved_subdomains; // first labels, beside those that all suites have
};

settings read_settings(config::reader& reader);

} // namespace tempinbox::inbox
