#pragma once

#include "common/config/reader.hpp"
#include "common/http/server.hpp"
#include "common/kafka/settings.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/tls.hpp"
#include "common/runtime/master_keys.hpp"
#include "gateway/dashboard/account_email_settings.hpp"
#include "gateway/dashboard/sign_in_handlers.hpp"
#include "gateway/json/capture.hpp"
#include "gateway/long_poll/long_poll_hub.hpp"

#include <string>
#include <vector>

namespace tempinbox::gateway {

struct settings
{
    http::server_settings api;
    postgres::settings database;
    kafka::settings kafka;
    std::string rpc_token_file;
    rpc::tls_settings rpc_tls;
    std::vector<host_port> inbox_rpc;
    std::vector<host_port> rate_limit_rpc;
    std::vector<host_port> webhook_dispatcher_rpc;
    std::vector<network> trusted_proxies;
    runtime::master_key_settings master_keys; // seal stored responses
    std::size_t list_cache_bytes = 64 * 1024 * 1024;
    std::size_t response_bytes = 512 * 1024 * 1024; // of large responses until they are sent
    // Path of the gateway behind a proxy, such as `/some/path`; empty: the root of its host.
    std::string base_path;
    std::string dashboard_files; // folder of the built page
    std::string download_files;  // folder of what is served below /downloads
    relay_settings relay;
    capture_server captures; // not set: none can be made
    sign_up who_signs_up = sign_up::closed;
    long_poll_limits waits{0};
    std::int64_t session_requests_a_day = 20'000; // of an account; 0: no limit
    std::int64_t stored_keys_a_day = 10'000;      // Idempotency-Keys of an account; 0: no limit
    std::chrono::milliseconds idempotency_ttl = std::chrono::hours(24);
};

settings read_settings(config::reader& reader);

} // namespace tempinbox::gateway
