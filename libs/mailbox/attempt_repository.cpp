#include "mailbox/attempt_repository.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr std::string_view end_names[] = {"quit", "dropped", "closed"};

constexpr postgres::statement insert_attempts{"mailbox_insert_attempts", R"(
    INSERT INTO mailbox.attempts (account_id, inbox_id, attempt_id, at, session_end, attempt)
    SELECT g.account_id, g.inbox_id, g.attempt_id, mailbox.from_micros(g.at), g.session_end,
        g.attempt
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::bytea[])
            AS g (account_id, inbox_id, attempt_id, at, session_end, attempt)
        JOIN mailbox.inboxes AS i ON i.account_id = g.account_id AND i.inbox_id = g.inbox_id
    WHERE i.is_live
    ON CONFLICT (account_id, inbox_id, attempt_id) DO NOTHING)"};

// Those that another replica is deleting are skipped.
const std::string trim_attempts_sql = R"(
    DELETE FROM mailbox.attempts
    WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM mailbox.attempts AS o
        WHERE o.ctid = ANY (ARRAY(
            SELECT old.row
            FROM unnest($1::uuid[], $2::uuid[]) AS g (account_id, inbox_id)
                CROSS JOIN LATERAL (
                    SELECT n.ctid AS row FROM mailbox.attempts AS n
                    WHERE n.account_id = g.account_id AND n.inbox_id = g.inbox_id
                    ORDER BY n.attempt_id DESC OFFSET )" +
                                      std::to_string(attempt_repository::max_attempts) +
                                      R"() AS old))
        FOR UPDATE SKIP LOCKED)))";
const postgres::statement trim_attempts{"mailbox_trim_attempts", trim_attempts_sql.c_str()};

constexpr postgres::statement update_ends{"mailbox_update_attempt_ends", R"(
    UPDATE mailbox.attempts AS a SET session_end = g.session_end
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[])
        AS g (account_id, inbox_id, attempt_id, session_end)
    WHERE a.account_id = g.account_id AND a.inbox_id = g.inbox_id
        AND a.attempt_id = g.attempt_id)"};

// One row of nulls if nothing was recorded, with whether it would be.
const std::string find_attempts_sql = R"(
    SELECT a.attempt_id, mailbox.to_micros(a.at) AS at_micros, a.session_end, a.attempt,
        i.email_address LIKE '*@%' OR a.attempt_id IS NOT NULL
            OR EXISTS (SELECT 1 FROM mailbox.capture_logins AS l
                       WHERE l.account_id = i.account_id AND l.inbox_id = i.inbox_id)
            OR EXISTS (SELECT 1 FROM mailbox.fault_sets AS s
                       WHERE s.account_id = i.account_id AND s.inbox_id = i.inbox_id) AS is_watched
    FROM mailbox.inboxes AS i
        LEFT JOIN mailbox.attempts AS a
            ON a.account_id = i.account_id AND a.inbox_id = i.inbox_id
                AND a.at > now() - make_interval(hours => )" +
                                      std::to_string(attempt_repository::retention.count()) +
                                      R"()
    WHERE i.account_id = $1 AND i.inbox_id = $2 AND i.is_live AND i.expires_at > now()
    ORDER BY a.attempt_id DESC LIMIT )" +
                                      std::to_string(attempt_repository::max_attempts);
const postgres::statement find_attempts{"mailbox_find_attempts", find_attempts_sql.c_str()};

// Mail is what a commit waits for the disk for.
constexpr const char* no_disk_wait = "SET LOCAL synchronous_commit = off";

session_end read_end(const std::string& name)
{
    const auto found = std::ranges::find(end_names, name);
    if (found == std::end(end_names))
        throw std::runtime_error("the end of a session cannot be read");
    return static_cast<session_end>(found - std::begin(end_names));
}

std::optional<std::string> text_of(std::optional<session_end> how)
{
    return how ? std::optional(std::string(to_text(*how))) : std::nullopt;
}

void record_in(pqxx::work& tx, const std::vector<new_attempt>& attempts)
{
    std::vector<account_id> accounts;
    std::vector<inbox_id> inboxes;
    std::vector<uuid> ids;
    std::vector<std::int64_t> times;
    std::vector<std::optional<std::string>> ends;
    postgres::binary_array contents(postgres::binary_format<postgres::bytea>::oid);
    for (const auto& each : attempts) {
        accounts.push_back(each.key.account);
        inboxes.push_back(each.key.inbox);
        ids.push_back(each.key.id);
        times.push_back(to_unix_micros(each.at));
        ends.push_back(text_of(each.end));
        contents.add(postgres::bytea{each.what.SerializeAsString()});
    }
    postgres::exec_prepared0(tx, insert_attempts.name, postgres::to_array(accounts),
                             postgres::to_array(inboxes), postgres::to_array(ids),
                             postgres::to_array(times), postgres::to_array(ends),
                             contents.parameter());
}

void note_ends_in(pqxx::work& tx, const std::vector<ended_session>& ends)
{
    std::vector<account_id> accounts;
    std::vector<inbox_id> inboxes;
    std::vector<uuid> ids;
    std::vector<std::string> names;
    for (const auto& each : ends) {
        accounts.push_back(each.last.account);
        inboxes.push_back(each.last.inbox);
        ids.push_back(each.last.id);
        names.emplace_back(to_text(each.how));
    }
    postgres::exec_prepared0(tx, update_ends.name, postgres::to_array(accounts),
                             postgres::to_array(inboxes), postgres::to_array(ids),
                             postgres::to_array(names));
}

stored_attempt read_attempt(const pqxx::row& row)
{
    stored_attempt read;
    postgres::read_column(row, "attempt_id", read.id);
    postgres::read_column(row, "at_micros", read.at);
    if (const auto end = column<std::optional<std::string>>(row, "session_end"))
        read.end = read_end(*end);
    if (!read.what.ParseFromString(postgres::bytes_of(row["attempt"])))
        throw std::runtime_error("an attempt of an inbox cannot be read");
    return read;
}

} // namespace

std::string_view to_text(session_end how)
{
    return end_names[static_cast<std::size_t>(how)];
}

attempt_repository::attempt_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {insert_attempts, trim_attempts, update_ends, find_attempts})
        db_.prepare(statement);
}

awaitable<void> attempt_repository::record(std::vector<new_attempt> attempts)
{
    return db_.transact([attempts = std::move(attempts)](pqxx::work& tx) {
        tx.exec0(no_disk_wait);
        record_in(tx, attempts);
    });
}

awaitable<void> attempt_repository::trim(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return db_.transact([inboxes = std::move(inboxes)](pqxx::work& tx) {
        tx.exec0(no_disk_wait);
        const auto [accounts, ids] = postgres::to_arrays(inboxes);
        postgres::exec_prepared0(tx, trim_attempts.name, accounts, ids);
    });
}

awaitable<void> attempt_repository::note_ends(std::vector<ended_session> ends)
{
    return db_.transact([ends = std::move(ends)](pqxx::work& tx) {
        tx.exec0(no_disk_wait);
        note_ends_in(tx, ends);
    });
}

awaitable<result<std::vector<stored_attempt>>> attempt_repository::find(account_id account,
                                                                        inbox_id inbox)
{
    using attempts = std::vector<stored_attempt>;
    return postgres::run_autocommit<result<attempts>>(
        db_, [account, inbox](pqxx::nontransaction& tx) -> result<attempts> {
            const auto rows =
                postgres::exec_prepared(tx, find_attempts.name, account.text(), inbox.text());
            if (rows.empty())
                return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
            if (!column<bool>(rows[0], "is_watched"))
                return failure{errc::not_found, "Inbox " + inbox.text() +
                                                    " has no report on its senders: it never had "
                                                    "a login or faults, and is no catch-all"};
            attempts found;
            for (const auto& row : rows)
                if (!row["attempt_id"].is_null())
                    found.push_back(read_attempt(row));
            std::ranges::reverse(found);
            return found;
        });
}

} // namespace tempinbox::mailbox
