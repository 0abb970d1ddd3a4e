#include "tempinboxctl/restore_reading.hpp"

#include "common/core/text.hpp"
#include "common/rpc/timestamp.hpp"

#include <algorithm>
#include <set>

namespace tempinbox::ctl {
namespace {

std::string reason_text(events::v1::ExpiryReason reason)
{
    return reason == events::v1::EXPIRY_REASON_DELETED ? "deleted" : "ttl";
}

std::vector<std::string> event_topics()
{
    return {events::topics::email_received, events::topics::inbox_created,
            events::topics::inbox_expired};
}

} // namespace

awaitable<database_facts> read_database(session& suite)
{
    std::vector<std::string> services{"tempinbox-gateway", "tempinbox-inbox",
                                      "tempinbox-mail-ingest", "tempinbox-rate-limit",
                                      "tempinbox-webhook-dispatcher"};
    database_facts found;
    found.server = co_await postgres::read_restored_server(suite.db(), std::move(services));
    auto id = found.server.restore_id;
    found.noted = co_await accounts::find_restore(suite.db(), std::move(id));
    found.accounts = co_await accounts::count_restored_accounts(suite.db());
    found.inboxes = co_await mailbox::count_restored_inboxes(suite.db());
    found.logins = co_await mailbox::count_restored_logins(suite.db());
    found.feeds = co_await feeds::count_restored_feeds(suite.db());
    co_return found;
}

awaitable<result<published_accounts>> read_account_states(session& suite, restore_request request)
{
    published_accounts found;
    std::set<account_id> lost;
    kafka::bounded_reader reader(suite.kafka(), events::topics::account_state, std::nullopt,
                                 request.timeout);
    for (;;) {
        const auto batch = reader.read(restore_batch_size);
        if (!batch)
            co_return batch.error();
        if (batch->empty())
            break;
        std::vector<account_id> live;
        for (const auto& one : *batch) {
            const auto state = events::read_account_state(one);
            if (!state)
                continue; // the services skip it, too
            found.version = std::max(found.version, state->version);
            if (state->is_deleted)
                lost.erase(state->account);
            else
                live.push_back(state->account);
        }
        const auto unknown = co_await accounts::find_lost_accounts(suite.db(), std::move(live));
        lost.insert(unknown.begin(), unknown.end());
    }
    found.lost.assign(lost.begin(), lost.end());
    co_return found;
}

result<std::optional<std::vector<mailbox::known_inbox>>> next_created(kafka::bounded_reader& reader)
{
    const auto batch = reader.read(restore_batch_size);
    if (!batch)
        return batch.error();
    if (batch->empty())
        return std::optional<std::vector<mailbox::known_inbox>>();
    std::vector<mailbox::known_inbox> inboxes;
    for (const auto& one : *batch)
        if (const auto event = events::read_inbox_created(one))
            inboxes.emplace_back(account_id::parse(event->account_id()).value(),
                                 inbox_id::parse(event->inbox_id()).value(),
                                 event->email_address());
    return std::optional(std::move(inboxes));
}

awaitable<result<std::int64_t>> count_lost_inboxes(session& suite, restore_request request,
                                                   time_point since)
{
    std::set<inbox_id> lost;
    kafka::bounded_reader reader(suite.kafka(), events::topics::inbox_created, since,
                                 request.timeout);
    for (;;) {
        auto inboxes = next_created(reader);
        if (!inboxes)
            co_return inboxes.error();
        if (!*inboxes)
            break;
        const auto unknown = co_await mailbox::find_lost_inboxes(suite.db(), std::move(**inboxes));
        lost.insert(unknown.begin(), unknown.end());
    }
    co_return static_cast<std::int64_t>(lost.size());
}

awaitable<result<published_ends>> read_ends(session& suite, restore_request request,
                                            time_point since)
{
    published_ends found;
    std::set<inbox_id> counted; // an end may be published more than once
    kafka::bounded_reader reader(suite.kafka(), events::topics::inbox_expired, since,
                                 request.timeout);
    for (;;) {
        const auto batch = reader.read(restore_batch_size);
        if (!batch)
            co_return batch.error();
        if (batch->empty())
            break;
        std::vector<mailbox::known_inbox> inboxes;
        std::vector<published_end> ends;
        for (const auto& one : *batch) {
            const auto event = events::read_inbox_expired(one);
            const auto envelope = events::read_envelope(one);
            if (!event || !envelope)
                continue;
            const auto id = inbox_id::parse(event->inbox_id()).value();
            inboxes.emplace_back(account_id::parse(event->account_id()).value(), id,
                                 event->email_address());
            ends.emplace_back(id, to_clean_utf8(event->email_address()),
                              reason_text(event->reason()), rpc::to_time(event->expired_at()),
                              envelope->id);
        }
        const auto live = co_await mailbox::find_live_inboxes(suite.db(), std::move(inboxes));
        for (auto& end : ends) {
            const bool is_live = std::find(live.begin(), live.end(), end.inbox) != live.end();
            if (!is_live || !counted.insert(end.inbox).second)
                continue;
            ++found.count;
            if (found.listed.size() < max_listed_ends)
                found.listed.push_back(std::move(end));
        }
    }
    co_return found;
}

result<std::vector<kafka::group_position>>
read_offsets(const kafka::settings& cluster, const restore_request& request, time_point since)
{
    auto found =
        kafka::find_group_positions(cluster, request.group, event_topics(), since, request.timeout);
    if (!found)
        return found.error();
    return positions_to_reset(std::move(*found));
}

result<std::vector<std::string>> find_running(const kafka::settings& cluster,
                                              const restore_request& request,
                                              const database_facts& database)
{
    auto running = database.server.sessions;
    const auto members = kafka::count_group_members(cluster, request.group, request.timeout);
    if (!members)
        return members.error();
    if (*members > 0)
        running.push_back(std::to_string(*members) + " members of group " + request.shown_group);
    return running;
}

} // namespace tempinbox::ctl
