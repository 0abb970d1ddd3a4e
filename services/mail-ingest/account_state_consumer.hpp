#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "mailbox/account_store.hpp"

namespace tempinbox::mail_ingest {

// Keeps the mailbox's copy of every account's limits as topic account.state says, as one member of
// a consumer group. The higher version wins, so it does no harm that others write it too.
class account_state_consumer
{
public:
    account_state_consumer(runtime::host& host, const kafka::settings& cluster, postgres::pool& db);

    void start() { consumer_.start(); }
    awaitable<void> stop() { return consumer_.stop(); }

private:
    awaitable<void> handle(const std::vector<kafka::record>& batch);

    mailbox::account_store accounts_;
    kafka::consumer consumer_;
};

} // namespace tempinbox::mail_ingest
