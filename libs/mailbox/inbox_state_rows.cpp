#include "mailbox/inbox_state_rows.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// The account is in a header, and leads to the inbox by its primary key. Of several states of an
// inbox the oldest counts: any of them may stand behind the newest. The tombstone of a purged inbox
// has a version above all of them.
constexpr const char* remove_rows = R"(
WITH removed AS (
    DELETE FROM mailbox.outbox WHERE event_id = ANY ($1::uuid[]) AND owner = $2
    RETURNING topic, key, sequence, headers, payload),
states AS (
    SELECT key::uuid AS inbox_id, min(sequence) AS version, max(sequence) AS newest_version,
           max(substring(headers FROM 'ce_accountid: ([0-9a-f-]{36})'))::uuid AS account_id
    FROM removed WHERE topic = 'inbox.state' AND payload IS NOT NULL GROUP BY key)
SELECT account_id, inbox_id, s.newest_version, i.created_at IS NULL AS is_purged, i.email_address,
       i.is_live, i.state_version,
       mailbox.to_micros(i.created_at) AS created, mailbox.to_micros(i.expires_at) AS expires,
       mailbox.to_micros(i.expired_at) AS expired,
       coalesce(i.expiry_reason = 'ttl', false) AS is_by_time
FROM states AS s LEFT JOIN mailbox.inboxes AS i USING (account_id, inbox_id)
WHERE i.created_at IS NULL OR i.state_version > s.version)";

// What an inbox and an ended one have in common.
template <class Inbox>
Inbox read_shared(const pqxx::row& row)
{
    Inbox read;
    read.account = column<account_id>(row, "account_id");
    read.id = column<inbox_id>(row, "inbox_id");
    read.address = column<std::string>(row, "email_address");
    read.created_at = column<time_point>(row, "created");
    read.expires_at = column<time_point>(row, "expires");
    read.state_version = column<std::int64_t>(row, "state_version");
    return read;
}

} // namespace

inbox read_inbox_of_event(const pqxx::row& row)
{
    auto read = read_shared<inbox>(row);
    read.is_live = column<bool>(row, "is_live");
    return read;
}

ended_inbox read_ended_inbox(const pqxx::row& row)
{
    auto read = read_shared<ended_inbox>(row);
    read.expired_at = column<time_point>(row, "expired");
    read.reason = column<bool>(row, "is_by_time") ? expiry_reason::ttl : expiry_reason::deleted;
    return read;
}

outbox::row make_current_state_event(const pqxx::row& row)
{
    if (!column<bool>(row, "is_live"))
        return make_state_event(read_ended_inbox(row));
    // When it came into its state is not known any more.
    return make_state_event(read_inbox_of_event(row), system_clock_source().now());
}

outbox::row_remover remover_of_published(std::string owner)
{
    return [owner = std::move(owner)](pqxx::work& tx, const std::vector<event_id>& published) {
        std::vector<outbox::row> again;
        for (const auto& row : tx.exec_params(remove_rows, postgres::to_array(published), owner))
            again.push_back(column<bool>(row, "is_purged")
                                ? make_state_tombstone(column<account_id>(row, "account_id"),
                                                       column<inbox_id>(row, "inbox_id"),
                                                       column<std::int64_t>(row, "newest_version"))
                                : make_current_state_event(row));
        return again;
    };
}

} // namespace tempinbox::mailbox
