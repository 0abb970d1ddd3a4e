#include "mailbox/unacknowledged_store.hpp"

#include "common/postgres/binary_array.hpp"

namespace tempinbox::mailbox {
namespace {

// Inserts emails that match `which`. The condition is part of the text, so that each one has a plan
// of its own that uses an index.
std::string marking(const std::string& which)
{
    return "INSERT INTO mailbox.unconfirmed (account_id, inbox_id, email_id, sequence, mail_from, "
           "content_sha256, until)"
           " SELECT account_id, inbox_id, email_id, sequence, mail_from, content_sha256, "
           "received_at + interval '10 minutes'"
           " FROM mailbox.emails WHERE " +
           which + " AND message_id IS NOT NULL ON CONFLICT DO NOTHING";
}

const std::string mark_emails =
    marking("(account_id, email_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))");
const std::string mark_since = marking("email_id >= $1");

// $2: true at start, when an entry of this very name means a crash; else that entry is this
// process.
constexpr const char* take_crashed = R"(
    DELETE FROM mailbox.ingest_runs
    WHERE CASE WHEN replica = $1 THEN $2::boolean ELSE alive_at < clock_timestamp() - interval '30 seconds' END
    RETURNING mailbox.lowest_uuid(greatest(alive_at - interval '1 minute', clock_timestamp() - interval '10 minutes')))";

constexpr const char* show_alive = R"(
    INSERT INTO mailbox.ingest_runs (replica, alive_at) VALUES ($1, clock_timestamp())
    ON CONFLICT (replica) DO UPDATE SET alive_at = excluded.alive_at)";

constexpr const char* purge_expired = R"(
    DELETE FROM mailbox.unconfirmed WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM mailbox.unconfirmed WHERE until < clock_timestamp() ORDER BY until LIMIT 20000 FOR UPDATE SKIP LOCKED)))";

// A busy minute has many emails to mark.
constexpr const char* long_statement_timeout = "SET LOCAL statement_timeout = '30s'";

void show(pqxx::work& tx, const std::string& replica, bool begins)
{
    std::string since;
    for (const auto& row : tx.exec_params(take_crashed, replica, begins))
        since = since.empty() ? row[0].c_str() : std::min<std::string>(since, row[0].c_str());
    // Mark all mail since the earliest crash.
    if (!since.empty()) {
        tx.exec0(long_statement_timeout);
        tx.exec_params(mark_since, since);
    }
    tx.exec_params(show_alive, replica);
}

} // namespace

unacknowledged_store::unacknowledged_store(postgres::pool& db) : db_(db) {}

awaitable<void> unacknowledged_store::mark(std::vector<email_key> emails)
{
    return db_.transact([emails = std::move(emails)](pqxx::work& tx) {
        std::vector<account_id> accounts;
        std::vector<email_id> ids;
        for (const auto& one : emails) {
            accounts.push_back(one.account);
            ids.push_back(one.id);
        }
        tx.exec_params(mark_emails, postgres::to_array(accounts), postgres::to_array(ids));
    });
}

awaitable<void> unacknowledged_store::sign_on(std::string replica)
{
    return db_.transact(
        [replica = std::move(replica)](pqxx::work& tx) { show(tx, replica, true); });
}

awaitable<void> unacknowledged_store::heartbeat(std::string replica)
{
    return db_.transact([replica = std::move(replica)](pqxx::work& tx) {
        show(tx, replica, false);
        tx.exec0(purge_expired);
    });
}

awaitable<void> unacknowledged_store::sign_off(std::string replica)
{
    return db_.transact([replica = std::move(replica)](pqxx::work& tx) {
        tx.exec_params("DELETE FROM mailbox.ingest_runs WHERE replica = $1", replica);
    });
}

} // namespace tempinbox::mailbox
