#pragma once

#include "common/config/reader.hpp"
#include "common/http/server.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/tls.hpp"
#include "rate-limit/block_pool.hpp"

#include <string>

namespace tempinbox::rate_limit {

struct settings
{
    postgres::settings database;
    http::server_settings rpc;
    std::string rpc_advertise; // empty: the address it listens on
    std::string rpc_token_file;
    rpc::tls_settings rpc_tls;
    std::string rpc_tls_name; // of the other replicas' certificates; empty: where each is called
    block_pool_settings blocks;
    int days_kept = 35;
};

settings read_settings(config::reader& read);

} // namespace tempinbox::rate_limit
