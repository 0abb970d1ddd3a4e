#include "mailbox/event_verification.hpp"

#include "common/events/events.hpp"
#include "common/outbox/swept_rows.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "mailbox/past_events.hpp"
#include "mailbox/row_position.hpp"
#include "mailbox/types.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr std::chrono::minutes mail_slice{10};
constexpr int max_inboxes = 10'000;

// The outbox is looked at in the statement's one moment: an event whose row is there, and that
// waits no more, was published before. An email's id is of its time; ten minutes allow for clocks
// that differ.
constexpr const char* list_emails = R"(
SELECT e.email_id AS event_id
FROM mailbox.emails AS e
WHERE e.email_id >= mailbox.lowest_uuid(
        greatest(mailbox.from_micros($1) - interval '10 minutes', to_timestamp(0)))
    AND e.email_id < mailbox.lowest_uuid(mailbox.from_micros($2) + interval '10 minutes')
    AND e.received_at >= mailbox.from_micros($1) AND e.received_at < mailbox.from_micros($2)
    AND NOT EXISTS (SELECT FROM mailbox.outbox AS o WHERE o.event_id = e.email_id))";

constexpr const char* list_created = R"(
SELECT i.account_id, i.inbox_id, i.created_event_id AS event_id
FROM mailbox.inboxes AS i
WHERE (i.account_id, i.inbox_id) > ($1::uuid, $2::uuid)
    AND i.created_at >= mailbox.from_micros($3) AND i.created_at < mailbox.from_micros($4)
    AND NOT EXISTS (SELECT FROM mailbox.outbox AS o WHERE o.event_id = i.created_event_id)
ORDER BY i.account_id, i.inbox_id LIMIT $5)";

constexpr const char* list_ended = R"(
SELECT i.account_id, i.inbox_id, i.expired_event_id AS event_id
FROM mailbox.inboxes AS i
WHERE (i.account_id, i.inbox_id) > ($1::uuid, $2::uuid) AND NOT i.is_live
    AND i.expired_at >= mailbox.from_micros($3) AND i.expired_at < mailbox.from_micros($4)
    AND NOT EXISTS (SELECT FROM mailbox.outbox AS o WHERE o.event_id = i.expired_event_id)
ORDER BY i.account_id, i.inbox_id LIMIT $5)";

const std::string find_emails =
    "SELECT " + past_email_columns() + " FROM mailbox.emails WHERE email_id = ANY ($1::uuid[])";
const std::string find_created = "SELECT " + past_inbox_columns() +
                                 " FROM mailbox.inboxes WHERE created_event_id = ANY ($1::uuid[])";
const std::string find_ended = "SELECT " + past_inbox_columns() +
                               " FROM mailbox.inboxes WHERE expired_event_id = ANY ($1::uuid[])"
                               " AND NOT is_live";

constexpr const char* find_waiting =
    "SELECT event_id FROM mailbox.outbox WHERE event_id = ANY ($1::uuid[])";

// The position is the time up to which mail was listed.
expected_events list_mail(pqxx::work& tx, const event_period& within, const std::string& position)
{
    expected_events found;
    found.since = within.since;
    if (!position.empty()) {
        std::int64_t micros = 0;
        std::from_chars(position.data(), position.data() + position.size(), micros);
        found.since = from_unix_micros(micros);
    }
    const auto until = std::min<time_point>(found.since + mail_slice, within.until);
    for (const auto& row :
         tx.exec_params(list_emails, to_unix_micros(found.since), to_unix_micros(until)))
        found.ids.push_back(column<event_id>(row, "event_id"));
    found.position = std::to_string(to_unix_micros(until));
    found.is_finished = until >= within.until;
    return found;
}

expected_events list_inboxes(pqxx::work& tx, const event_period& within,
                             const std::string& position)
{
    expected_events found;
    found.since = within.since;
    found.position = position;
    const auto [account, id] = split_position(position);
    const auto* const list =
        within.type == events::topics::inbox_created ? list_created : list_ended;
    const auto rows = tx.exec_params(list, account, id, to_unix_micros(within.since),
                                     to_unix_micros(within.until), max_inboxes);
    for (const auto& row : rows) {
        if (const auto event = column<std::optional<event_id>>(row, "event_id"))
            found.ids.push_back(*event);
        else
            ++found.skipped;
    }
    if (!rows.empty())
        found.position = column<std::string>(rows.back(), "account_id") + "/" +
                         column<std::string>(rows.back(), "inbox_id");
    found.is_finished = static_cast<int>(rows.size()) < max_inboxes;
    return found;
}

// The missing events and, behind those of ended inboxes, their ends.
std::vector<outbox::row> make_again(pqxx::work& tx, const std::string& type,
                                    const std::vector<event_id>& missing)
{
    const bool is_mail = type == events::topics::email_received;
    const bool is_created = type == events::topics::inbox_created;
    const auto& find = is_mail ? find_emails : is_created ? find_created : find_ended;
    std::vector<outbox::row> rows;
    const auto add = [&rows](std::optional<outbox::row> row) {
        if (row)
            rows.push_back(std::move(*row));
    };
    for (const auto& row : tx.exec_params(find, postgres::to_array(missing))) {
        if (is_mail) {
            add(make_past_email_event(row));
            continue;
        }
        if (is_created)
            add(make_past_created_event(row));
        if (!column<bool>(row, "is_live"))
            add(make_past_expired_event(row));
    }
    return rows;
}

void leave_out_waiting(pqxx::work& tx, std::vector<outbox::row>& rows)
{
    std::vector<event_id> ids;
    ids.reserve(rows.size());
    for (const auto& row : rows)
        ids.push_back(row.id);
    std::set<event_id> waiting;
    for (const auto& row : tx.exec_params(find_waiting, postgres::to_array(ids)))
        waiting.insert(column<event_id>(row, "event_id"));
    std::erase_if(rows, [&waiting](const outbox::row& row) { return waiting.contains(row.id); });
}

} // namespace

awaitable<expected_events> list_expected_events(postgres::pool& db, event_period within,
                                                std::string position)
{
    return db.transact([within = std::move(within),
                        position = std::move(position)](pqxx::work& tx) {
        return within.type == events::topics::email_received ? list_mail(tx, within, position)
                                                             : list_inboxes(tx, within, position);
    });
}

awaitable<repaired_events> repair_events(postgres::pool& db, std::string type,
                                         std::vector<event_id> missing)
{
    return db.transact([type = std::move(type), missing = std::move(missing)](pqxx::work& tx) {
        auto rows = make_again(tx, type, missing);
        leave_out_waiting(tx, rows);
        std::sort(rows.begin(), rows.end(), [](const outbox::row& a, const outbox::row& b) {
            return std::tie(a.message.key, a.sequence) < std::tie(b.message.key, b.sequence);
        });
        outbox::insert_for_sweep(tx, schema, "tempinboxctl", rows);
        repaired_events repaired;
        for (const auto& row : rows)
            ++(row.message.topic == type ? repaired.events : repaired.ends);
        return repaired;
    });
}

} // namespace tempinbox::mailbox
