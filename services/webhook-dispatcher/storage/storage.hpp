#pragma once

#include "common/postgres/pool.hpp"
#include "webhook-dispatcher/storage/delivery_repository.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"
#include "webhook-dispatcher/storage/feed_repository.hpp"
#include "webhook-dispatcher/storage/manual_delivery_repository.hpp"
#include "webhook-dispatcher/storage/queue_repository.hpp"
#include "webhook-dispatcher/storage/replay_repository.hpp"
#include "webhook-dispatcher/storage/retention_repository.hpp"
#include "webhook-dispatcher/storage/rule_repository.hpp"

namespace tempinbox::webhooks {

// Schema webhooks: its connections, whose version of the schema is checked, and its repositories.
class storage
{
public:
    storage(runtime::host& host, const postgres::settings& database);
    storage(const storage&) = delete;

    void stop() { db.stop(); }

    postgres::pool db;
    endpoint_repository endpoints;
    rule_repository rules;
    feed_repository feeds;
    queue_repository queue;
    delivery_repository deliveries;
    manual_delivery_repository manual_deliveries;
    replay_repository replays;
    retention_repository partitions;
};

} // namespace tempinbox::webhooks
