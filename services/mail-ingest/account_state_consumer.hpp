#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "mailbox/account_state_repository.hpp"

namespace tempinbox::mail_ingest {

// Copies every account's limits from topic account.state into the mailbox schema, as one member of
// a consumer group. Other writers do no harm: the higher version wins.
class account_state_consumer
{
public:
    account_state_consumer(runtime::host& host, const kafka::settings& cluster, postgres::pool& db);

    void start() { consumer_.start(); }
    awaitable<void> stop() { return consumer_.stop(); }

private:
    awaitable<void> handle(const std::vector<kafka::record>& batch);

    mailbox::account_state_repository accounts_;
    kafka::consumer consumer_;
};

} // namespace tempinbox::mail_ingest
