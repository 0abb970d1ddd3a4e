#include "inbox/account_state_consumer.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"

namespace tempinbox::inbox {
namespace {

kafka::consumer_settings membership(const kafka::settings& cluster)
{
    kafka::consumer_settings chosen;
    chosen.cluster = cluster;
    chosen.group = "tempinbox-inbox";
    chosen.topics = {events::topics::account_state};
    return chosen;
}

} // namespace

account_state_consumer::account_state_consumer(runtime::host& host, const kafka::settings& cluster,
                                               mailbox::account_state_repository& accounts,
                                               std::function<void()> on_deleted)
    : accounts_(accounts),
      on_deleted_(std::move(on_deleted)),
      unreadable_(host.metrics().counter("tempinbox_inbox_unreadable_account_states_total",
                                         "Records of account.state that could not be read.")),
      consumer_(host, membership(cluster),
                [this](const std::vector<kafka::record>& batch) { return handle(batch); })
{}

awaitable<void> account_state_consumer::handle(const std::vector<kafka::record>& batch)
{
    std::vector<plans::account_state> states;
    std::vector<plans::account_state> deleted;
    for (const auto& record : batch) {
        auto state = events::read_account_state(record);
        if (state) {
            (state->is_deleted ? deleted : states).push_back(std::move(*state));
            continue;
        }
        // The topic is compacted and has no dead letters: the account's next state repairs the
        // loss.
        unreadable_.Increment();
        log::error("account state cannot be read", {{"partition", record.partition},
                                                    {"offset", record.offset},
                                                    {"reason", state.error().message}});
    }
    co_await accounts_.put(std::move(states));
    for (const auto& state : deleted)
        co_await accounts_.mark_deleted(state.account, state.version);
    if (!deleted.empty())
        on_deleted_();
}

} // namespace tempinbox::inbox
