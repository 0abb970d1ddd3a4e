#pragma once

#include "common/core/awaitable.hpp"
#include "common/kafka/consumer.hpp"
#include "mailbox/account_state_repository.hpp"

#include <functional>
#include <string>

namespace tempinbox::mailbox {

// Copies every account's plan and limits from topic account.state into the mailbox schema, as one
// member of a consumer group. inbox and mail-ingest each run it in a group of their own, so that
// either learns a new plan while the other is away; both write the same rows, of which the higher
// version wins.
class account_state_consumer
{
public:
    struct settings
    {
        kafka::settings cluster;
        std::string group;
        // Each may be absent: called after accounts were marked as deleted, and for each record
        // that cannot be read.
        std::function<void()> on_deleted;
        std::function<void()> on_unreadable;
    };

    account_state_consumer(runtime::host& host, account_state_repository& accounts,
                           settings chosen);

    void start() { consumer_.start(); }
    awaitable<void> stop() { return consumer_.stop(); }

private:
    awaitable<void> handle(const std::vector<kafka::record>& batch);

    account_state_repository& accounts_;
    settings settings_;
    kafka::consumer consumer_;
};

} // namespace tempinbox::mailbox
