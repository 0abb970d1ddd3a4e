#include "mailbox/account_state_consumer.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"

namespace tempinbox::mailbox {
namespace {

kafka::consumer_settings membership(const account_state_consumer::settings& given)
{
    kafka::consumer_settings chosen;
    chosen.cluster = given.cluster;
    chosen.group = given.group;
    chosen.topics = {events::topics::account_state};
    return chosen;
}

} // namespace

account_state_consumer::account_state_consumer(runtime::host& host,
                                               account_state_repository& accounts, settings chosen)
    : accounts_(accounts),
      settings_(std::move(chosen)),
      consumer_(host, membership(settings_),
                [this](const std::vector<kafka::record>& batch) { return handle(batch); })
{}

awaitable<void> account_state_consumer::handle(const std::vector<kafka::record>& batch)
{
    std::vector<plans::account_state> states;
    std::vector<plans::account_state> deleted;
    for (const auto& record : batch) {
        auto state = events::read_account_state(record);
        if (state) {
            log::audit("account changed", {{"account_id", state->account.text()},
                                           {"plan", state->plan},
                                           {"is_deleted", state->is_deleted},
                                           {"version", state->version}});
            (state->is_deleted ? deleted : states).push_back(std::move(*state));
            continue;
        }
        // The topic is compacted and has no dead letters: the account's next state repairs the
        // loss.
        if (settings_.on_unreadable)
            settings_.on_unreadable();
        log::error("account state cannot be read", {{"partition", record.partition},
                                                    {"offset", record.offset},
                                                    {"reason", state.error().message}});
    }
    co_await accounts_.put(std::move(states));
    for (const auto& state : deleted)
        co_await accounts_.mark_deleted(state.account, state.version);
    if (!deleted.empty() && settings_.on_deleted)
        settings_.on_deleted();
}

} // namespace tempinbox::mailbox
