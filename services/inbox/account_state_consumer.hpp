#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "mailbox/account_store.hpp"

#include <functional>

namespace tempinbox::inbox {

// Keeps the mailbox's copy of every account's plan and limits as topic account.state says, as one
// member of a consumer group.
class account_state_consumer
{
public:
    // `on_deleted` is called once accounts are marked as deleted.
    account_state_consumer(runtime::host& host, const kafka::settings& cluster,
                           mailbox::account_store& accounts, std::function<void()> on_deleted);

    void start() { consumer_.start(); }
    awaitable<void> stop() { return consumer_.stop(); }

private:
    awaitable<void> handle(const std::vector<kafka::record>& batch);

    mailbox::account_store& accounts_;
    std::function<void()> on_deleted_;
    prometheus::Counter& unreadable_;
    kafka::consumer consumer_;
};

} // namespace tempinbox::inbox
