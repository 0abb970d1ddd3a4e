#pragma once

#include "webhook-dispatcher/delivery/name_resolver.hpp"
#include "webhook-dispatcher/endpoints/url_policy.hpp"

#include "common/config/reader.hpp"
#include "common/events/events.hpp"
#include "common/http/server.hpp"
#include "common/kafka/settings.hpp"
#include "common/postgres/pool.hpp"
#include "common/rpc/tls.hpp"
#include "common/runtime/master_keys.hpp"

#include <string>
#include <vector>

namespace tempinbox::webhooks {

struct settings
{
    postgres::settings database;
    kafka::settings kafka;
    std::string consumer_group = events::webhook_dispatcher_group;
    std::vector<std::string> topics; // the three of events and account.state
    http::server_settings rpc;
    std::string rpc_token_file;
    rpc::tls_settings rpc_tls;
    runtime::master_key_settings keys;
    url_policy urls;
    std::string ca_file; // empty: the system's
    name_resolver_settings names;
    int retention_days = 30;
    std::size_t deliveries_in_memory = 10'000;

    settings();
};

settings read_settings(config::reader& reader);

} // namespace tempinbox::webhooks
