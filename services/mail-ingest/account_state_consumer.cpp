#include "mail-ingest/account_state_consumer.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"

namespace tempinbox::mail_ingest {
namespace {

kafka::consumer_settings membership(const kafka::settings& cluster)
{
    kafka::consumer_settings chosen;
    chosen.cluster = cluster;
    chosen.group = "tempinbox-mail-ingest";
    chosen.topics = {events::topics::account_state};
    return chosen;
}

} // namespace

account_state_consumer::account_state_consumer(runtime::host& host, const kafka::settings& cluster,
                                               postgres::pool& db)
    : accounts_(db),
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
        log::error("account state cannot be read", {{"partition", record.partition},
                                                    {"offset", record.offset},
                                                    {"reason", state.error().message}});
    }
    co_await accounts_.put(std::move(states));
    for (const auto& state : deleted)
        co_await accounts_.mark_deleted(state.account, state.version);
}

} // namespace tempinbox::mail_ingest
