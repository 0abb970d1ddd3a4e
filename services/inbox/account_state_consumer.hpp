#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "mailbox/account_state_repository.hpp"

#include <functional>

namespace tempinbox::inbox {

// Copies every account's plan and limits from topic account.state into the mailbox schema, as one
// member of a consumer group.
class account_state_consumer
{
public:
    // `on_deleted` is called after accounts were marked as deleted.
    account_state_consumer(runtime::host& host, const kafka::settings& cluster,
                           mailbox::account_state_repository& accounts,
                           std::function<void()> on_deleted);

    void start() { consumer_.start(); }
    awaitable<void> stop() { return consumer_.stop(); }

private:
    awaitable<void> handle(const std::vector<kafka::record>& batch);

    mailbox::account_state_repository& accounts_;
    std::function<void()> on_deleted_;
    prometheus::Counter& unreadable_;
    kafka::consumer consumer_;
};

} // namespace tempinbox::inbox
