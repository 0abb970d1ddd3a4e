#include "mailbox/body_move_store.hpp"

#include "common/core/ids.hpp"
#include "common/postgres/binary_array.hpp"

#include <map>
#include <vector>

namespace tempinbox::mailbox {
namespace {

constexpr int max_inboxes = 20;
constexpr std::size_t max_emails = 200;
const std::string max_bytes = std::to_string(64 * 1024 * 1024);

constexpr const char* needed = "SELECT EXISTS (SELECT 1 FROM mailbox.extended_inboxes WHERE "
                               "body_hour <= mailbox.from_micros($1))";

constexpr const char* extended = R"(
    SELECT account_id, inbox_id FROM mailbox.extended_inboxes WHERE body_hour <= mailbox.from_micros($1) ORDER BY body_hour LIMIT $2)";

// Nobody reads the mail of an ended inbox.
constexpr const char* purge_ended = R"(
    DELETE FROM mailbox.extended_inboxes AS x USING unnest($1::uuid[], $2::uuid[]) AS asked (account_id, inbox_id)
    WHERE x.account_id = asked.account_id AND x.inbox_id = asked.inbox_id AND NOT EXISTS (
        SELECT 1 FROM mailbox.inboxes AS i
        WHERE i.account_id = x.account_id AND i.inbox_id = x.inbox_id AND i.is_live AND i.expires_at > now()))";

// Locks in the order that extending, emptying and storing mail use.
constexpr const char* lock_live = R"(
    SELECT i.account_id, i.inbox_id, mailbox.to_micros(i.created_at), mailbox.to_micros(date_trunc('hour', i.expires_at, 'UTC'))
    FROM unnest($1::uuid[], $2::uuid[]) AS asked (account_id, inbox_id) JOIN mailbox.inboxes AS i USING (account_id, inbox_id)
    WHERE i.is_live AND i.expires_at > now() ORDER BY i.inbox_id FOR UPDATE OF i SKIP LOCKED)";

// No email is older than its inbox; ten minutes allow for clocks that differ.
const std::string emails_of_inbox = R"(
    FROM mailbox.emails AS e WHERE e.account_id = $1 AND e.inbox_id = $2
        AND e.email_id >= mailbox.lowest_uuid(mailbox.from_micros($3) - interval '10 minutes') )";

const std::string pick_emails = R"(
    SELECT email_id, mailbox.to_micros(body_hour), body_id, is_body_shared FROM (
        SELECT e.email_id, e.body_hour, e.body_id, e.is_body_shared,
               sum(e.size_bytes) OVER (ORDER BY e.email_id) - e.size_bytes AS bytes_before )" +
                                emails_of_inbox +
                                R"( AND e.body_hour <= mailbox.from_micros($4)) AS early
    WHERE bytes_before < )" + max_bytes +
                                " ORDER BY email_id LIMIT $5";

const std::string next_hour = "SELECT mailbox.to_micros(min(e.body_hour)) " + emails_of_inbox +
                              " AND e.body_hour < mailbox.from_micros($4)";

constexpr const char* name_new_hour = R"(
    UPDATE mailbox.emails SET body_hour = mailbox.from_micros($3) WHERE account_id = $1 AND email_id = ANY ($2::uuid[]))";
// Other inboxes' emails too: they share the body, which is in one partition.
constexpr const char* name_new_hour_of_shared = R"(
    UPDATE mailbox.emails SET body_hour = mailbox.from_micros($2) WHERE body_id = ANY ($1::uuid[]) AND is_body_shared)";

// The hour is a literal, so that the plan has one partition (body_removal_store.cpp).
std::string move_from(std::int64_t hour)
{
    return "WITH gone AS (DELETE FROM mailbox.bodies AS b WHERE b.body_hour = "
           "mailbox.from_micros(" +
           std::to_string(hour) +
           ") AND b.body_id = ANY ($1::uuid[]) RETURNING b.body_id, b.raw)"
           " INSERT INTO mailbox.bodies (body_hour, body_id, raw) SELECT mailbox.from_micros($2), "
           "body_id, raw FROM gone";
}

constexpr const char* note_next_hour = R"(
    UPDATE mailbox.extended_inboxes SET body_hour = mailbox.from_micros($3) WHERE account_id = $1 AND inbox_id = $2)";
constexpr const char* purge_one =
    "DELETE FROM mailbox.extended_inboxes WHERE account_id = $1 AND inbox_id = $2";

struct extended_inbox
{
    std::string account, id;
    std::int64_t created = 0;
    std::int64_t last_hour = 0; // the hour in which it ends now
};

// Emails first, then bodies: the order in which deletions lock them.
void move_to_last_hour(pqxx::work& tx, const extended_inbox& inbox, const pqxx::result& early)
{
    std::vector<email_id> own;
    std::vector<body_id> shared;
    std::map<std::int64_t, std::vector<body_id>> bodies;
    for (const auto& row : early) {
        const auto body = body_id::parse(row[2].c_str()).value();
        if (row[3].as<bool>())
            shared.push_back(body);
        else
            own.push_back(email_id::parse(row[0].c_str()).value());
        bodies[row[1].as<std::int64_t>()].push_back(body);
    }
    if (!own.empty())
        tx.exec_params0(name_new_hour, inbox.account, postgres::to_array(own), inbox.last_hour);
    if (!shared.empty())
        tx.exec_params0(name_new_hour_of_shared, postgres::to_array(shared), inbox.last_hour);
    for (const auto& [hour, ids] : bodies)
        tx.exec_params0(move_from(hour), postgres::to_array(ids), inbox.last_hour);
}

void move_bodies_of(pqxx::work& tx, const extended_inbox& inbox, std::int64_t hour)
{
    const auto early =
        tx.exec_params(pick_emails, inbox.account, inbox.id, inbox.created, hour, max_emails);
    move_to_last_hour(tx, inbox, early);
    if (early.empty()) {
        // It may have early bodies in later hours too, if it was extended more than once.
        const auto next =
            tx.exec_params1(next_hour, inbox.account, inbox.id, inbox.created, inbox.last_hour);
        if (next[0].is_null())
            tx.exec_params0(purge_one, inbox.account, inbox.id);
        else
            tx.exec_params0(note_next_hour, inbox.account, inbox.id, next[0].as<std::int64_t>());
    }
}

} // namespace

bool may_need_bodies(pqxx::work& tx, time_point hour)
{
    return tx.exec_params1(needed, to_unix_micros(hour))[0].as<bool>();
}

bool move_needed_bodies(pqxx::work& tx, time_point hour)
{
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    for (const auto& row : tx.exec_params(extended, to_unix_micros(hour), max_inboxes)) {
        accounts.push_back(account_id::parse(row[0].c_str()).value());
        ids.push_back(inbox_id::parse(row[1].c_str()).value());
    }
    if (ids.empty())
        return false;
    const auto purged =
        tx.exec_params(purge_ended, postgres::to_array(accounts), postgres::to_array(ids))
            .affected_rows();
    const auto live =
        tx.exec_params(lock_live, postgres::to_array(accounts), postgres::to_array(ids));
    for (const auto& row : live) {
        extended_inbox inbox;
        inbox.account = row[0].as<std::string>();
        inbox.id = row[1].as<std::string>();
        inbox.created = row[2].as<std::int64_t>();
        inbox.last_hour = row[3].as<std::int64_t>();
        move_bodies_of(tx, inbox, to_unix_micros(hour));
    }
    return purged > 0 || !live.empty();
}

} // namespace tempinbox::mailbox
