#include "mailbox/expiry_repository.hpp"

#include "common/plans/account_state_store.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "common/postgres/transact_each.hpp"
#include "common/trace/current.hpp"

#include <iterator>
#include <map>
#include <memory>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

// What `finish` reads of an inbox that was ended.
constexpr std::string_view ended_columns =
    " RETURNING i.account_id, i.inbox_id, i.email_address,"
    " mailbox.to_micros(i.expired_at) AS expired_micros,"
    " mailbox.to_micros(clock_timestamp()) AS now_micros,"
    " mailbox.to_micros(i.created_at) AS created_micros,"
    " mailbox.to_micros(i.expires_at) AS expires_micros, i.state_version, i.expired_event_id";

constexpr std::string_view end_at_request = R"(
    UPDATE mailbox.inboxes AS i
    SET is_live = false, expired_at = date_trunc('milliseconds', clock_timestamp()),
        expiry_reason = 'deleted', has_mail_to_purge = i.last_sequence > 0,
        state_version = i.state_version + 1, expired_event_id = mailbox.new_event_id() )";

// The limit is a literal, so that the planner knows it.
const std::string batch_limit = std::to_string(expiry_repository::batch_size);

const std::string claim_due_sql = R"(
    UPDATE mailbox.inboxes AS i
    SET is_live = false, expired_at = i.expires_at, expiry_reason = 'ttl',
        has_mail_to_purge = i.last_sequence > 0, state_version = i.state_version + 1,
        expired_event_id = mailbox.new_event_id()
    FROM (SELECT account_id, inbox_id FROM mailbox.inboxes WHERE is_live AND expires_at <= now()
          ORDER BY expires_at LIMIT )" +
                                  batch_limit + R"( FOR UPDATE SKIP LOCKED) AS due
    WHERE i.account_id = due.account_id AND i.inbox_id = due.inbox_id)" +
                                  std::string(ended_columns);
const postgres::statement claim_due{"mailbox_claim_due", claim_due_sql.c_str()};

// The ids come in the order in which mail-ingest locks inboxes.
const std::string claim_named_sql = std::string(end_at_request) + R"(
    FROM unnest($1::uuid[], $2::uuid[]) AS requested (account_id, inbox_id)
        CROSS JOIN LATERAL (
            SELECT account_id, inbox_id FROM mailbox.inboxes AS live
            WHERE live.account_id = requested.account_id AND live.inbox_id = requested.inbox_id
                AND live.is_live AND live.expires_at > now() FOR UPDATE) AS named
    WHERE i.account_id = named.account_id AND i.inbox_id = named.inbox_id)" +
                                    std::string(ended_columns);
const postgres::statement claim_named{"mailbox_claim_named", claim_named_sql.c_str()};

// Locks inboxes in the order in which mail-ingest locks them.
const std::string claim_tagged_sql = std::string(end_at_request) + R"(
    FROM (SELECT account_id, inbox_id FROM mailbox.inboxes
          WHERE account_id = $1 AND is_live AND expires_at > now() AND tags @> $2::text[]
          ORDER BY inbox_id LIMIT )" +
                                     batch_limit + R"( FOR UPDATE) AS tagged
    WHERE i.account_id = tagged.account_id AND i.inbox_id = tagged.inbox_id)" +
                                     std::string(ended_columns);
const postgres::statement claim_tagged{"mailbox_claim_tagged", claim_tagged_sql.c_str()};

constexpr std::size_t max_deleted_accounts = 100;

constexpr postgres::statement lock_deleted_accounts{"mailbox_lock_deleted_accounts", R"(
    SELECT account_id FROM mailbox.deleted_accounts ORDER BY account_id LIMIT $1
    FOR UPDATE SKIP LOCKED)"};

const std::string claim_of_deleted_sql = std::string(end_at_request) + R"(
    FROM (SELECT account_id, inbox_id FROM mailbox.inboxes
          WHERE account_id = ANY ($1::uuid[]) AND is_live AND expires_at > now()
          ORDER BY inbox_id LIMIT )" + batch_limit +
                                         R"( FOR UPDATE SKIP LOCKED) AS left_behind
    WHERE i.account_id = left_behind.account_id AND i.inbox_id = left_behind.inbox_id)" +
                                         std::string(ended_columns);
const postgres::statement claim_of_deleted{"mailbox_claim_of_deleted",
                                           claim_of_deleted_sql.c_str()};

// Due inboxes are left to expire_due. Returns how many accounts are left.
constexpr postgres::statement purge_deleted_accounts{"mailbox_purge_deleted_accounts", R"(
    WITH done AS (
        DELETE FROM mailbox.deleted_accounts AS d
        WHERE account_id = ANY ($1::uuid[]) AND NOT EXISTS (
            SELECT 1 FROM mailbox.inboxes AS i
            WHERE i.account_id = d.account_id AND i.is_live AND i.expires_at > now())
        RETURNING 1)
    SELECT cardinality($1::uuid[]) - (SELECT count(*) FROM done) AS accounts)"};

constexpr postgres::statement unmark_living_account{
    "mailbox_unmark_living_account", "DELETE FROM mailbox.deleted_accounts WHERE account_id = $1"};

// Locks in account order: batches of other processes touch the same accounts.
constexpr postgres::statement free_inbox_slots{"mailbox_free_inbox_slots", R"(
    WITH ended AS (
        SELECT account_id, count(*) AS inboxes FROM unnest($1::uuid[]) AS account_id
        GROUP BY account_id),
    locked AS MATERIALIZED (
        SELECT u.account_id, ended.inboxes
        FROM mailbox.live_inbox_counts AS u JOIN ended USING (account_id)
        ORDER BY u.account_id FOR UPDATE OF u)
    UPDATE mailbox.live_inbox_counts AS u
    SET live_inboxes = greatest(0, u.live_inboxes - locked.inboxes)
    FROM locked WHERE u.account_id = locked.account_id)"};

// A subdomain is free once the quarantine of its last address is over.
constexpr postgres::statement leave_subdomains{"mailbox_leave_subdomains", R"(
    WITH ended AS (
        SELECT e.account_id, split_part(e.address, '@', 2) AS domain, count(*) AS inboxes,
               max(e.at) AS at
        FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS e (account_id, address, at)
        GROUP BY 1, 2),
    locked AS MATERIALIZED (
        SELECT s.account_id, s.domain, ended.inboxes, ended.at
        FROM mailbox.subdomains AS s JOIN ended USING (account_id, domain)
        ORDER BY s.domain FOR UPDATE OF s)
    UPDATE mailbox.subdomains AS s
    SET live_inboxes = greatest(0, s.live_inboxes - locked.inboxes),
        until = greatest(
            s.until, mailbox.from_micros(locked.at) + make_interval(secs => $4::bigint))
    FROM locked WHERE s.account_id = locked.account_id AND s.domain = locked.domain)"};

constexpr postgres::statement quarantine_addresses{"mailbox_quarantine_addresses", R"(
    UPDATE mailbox.addresses AS a
    SET state = 'quarantined',
        until = mailbox.from_micros(ended.at) + make_interval(secs => $4::bigint)
    FROM unnest($1::text[], $2::uuid[], $3::bigint[]) AS ended (address, inbox_id, at)
    WHERE a.address = ended.address AND a.inbox_id = ended.inbox_id AND a.state = 'live')"};

// Takes the next version of mailbox.capture_changes only if an inbox has a login.
constexpr postgres::statement end_logins{"mailbox_end_logins", R"(
    WITH ended AS (SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS e (account_id, inbox_id)),
    next AS (
        UPDATE mailbox.capture_changes SET version = version + 1
        WHERE EXISTS (SELECT 1 FROM ended JOIN mailbox.capture_logins AS l USING (account_id, inbox_id)
                      WHERE l.revoked_at IS NULL)
        RETURNING version)
    UPDATE mailbox.capture_logins AS l
    SET revoked_at = clock_timestamp(), version = next.version
    FROM ended, next
    WHERE l.account_id = ended.account_id AND l.inbox_id = ended.inbox_id
        AND l.revoked_at IS NULL)"};

constexpr postgres::statement next_due{"mailbox_next_due", R"(
    SELECT mailbox.to_micros(expires_at) - mailbox.to_micros(clock_timestamp()) AS micros
    FROM mailbox.inboxes WHERE is_live ORDER BY expires_at LIMIT 1)"};

using causes = std::map<std::pair<inbox_id, account_id>, std::shared_ptr<const trace::context>>;

// Completes the end of inboxes whose rows are marked and locked.
expiry_batch finish(pqxx::work& tx, const pqxx::result& claimed, expiry_reason reason,
                    const std::string& outbox_owner, std::chrono::seconds quarantine,
                    const causes& known = {})
{
    expiry_batch batch;
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    std::vector<std::string> addresses;
    std::vector<std::int64_t> times;
    for (const auto& row : claimed) {
        ended_inbox ended;
        ended.account = column<account_id>(row, "account_id");
        ended.id = column<inbox_id>(row, "inbox_id");
        ended.address = column<std::string>(row, "email_address");
        ended.expired_at = column<time_point>(row, "expired_micros");
        ended.created_at = column<time_point>(row, "created_micros");
        ended.expires_at = column<time_point>(row, "expires_micros");
        ended.state_version = column<std::int64_t>(row, "state_version");
        ended.event = column<event_id>(row, "expired_event_id");
        ended.reason = reason;
        batch.oldest_delay =
            std::max(batch.oldest_delay, column<time_point>(row, "now_micros") - ended.expired_at);
        accounts.push_back(ended.account);
        ids.push_back(ended.id);
        addresses.push_back(ended.address);
        times.push_back(to_unix_micros(ended.expired_at));
        const auto cause = known.find({ended.id, ended.account});
        const trace::scope here(cause == known.end() ? trace::current() : cause->second);
        batch.events.push_back(make_expired_event(ended));
        batch.events.push_back(make_state_event(ended));
        batch.ended.push_back(std::move(ended));
    }
    if (batch.ended.empty())
        return batch;
    postgres::exec_prepared0(tx, free_inbox_slots.name, postgres::to_array(accounts));
    postgres::exec_prepared0(tx, leave_subdomains.name, postgres::to_array(accounts),
                             postgres::to_array(addresses), postgres::to_array(times),
                             static_cast<std::int64_t>(quarantine.count()));
    postgres::exec_prepared0(tx, quarantine_addresses.name, postgres::to_array(addresses),
                             postgres::to_array(ids), postgres::to_array(times),
                             static_cast<std::int64_t>(quarantine.count()));
    outbox::insert(tx, schema, outbox_owner, batch.events);
    postgres::exec_prepared0(tx, end_logins.name, postgres::to_array(accounts),
                             postgres::to_array(ids));
    return batch;
}

// Ends inboxes as if one after the other: who names one again finds it ended.
std::vector<result<expiry_batch>> expire_named(pqxx::work& tx,
                                               const std::vector<inbox_end>& requested,
                                               const std::string& outbox_owner,
                                               std::chrono::seconds quarantine)
{
    std::vector<result<expiry_batch>> results;
    std::map<std::pair<inbox_id, account_id>, std::size_t> first; // in lock order
    causes known;
    for (const auto& [account, id, cause] : requested) {
        first.try_emplace({id, account}, results.size());
        if (cause.is_valid())
            known.try_emplace({id, account}, std::make_shared<const trace::context>(cause));
        results.emplace_back(failure{errc::not_found, "Inbox " + id.text() + " does not exist"});
    }
    std::vector<account_id> accounts;
    std::vector<inbox_id> ids;
    for (const auto& [name, index] : first) {
        ids.push_back(name.first);
        accounts.push_back(name.second);
    }
    const auto claimed = postgres::exec_prepared(tx, claim_named.name, postgres::to_array(accounts),
                                                 postgres::to_array(ids));
    auto together = finish(tx, claimed, expiry_reason::deleted, outbox_owner, quarantine, known);
    for (std::size_t i = 0; i < together.ended.size(); ++i) {
        expiry_batch batch;
        const auto events = together.events.begin() + static_cast<std::ptrdiff_t>(2 * i);
        std::move(events, events + 2, std::back_inserter(batch.events));
        batch.oldest_delay = together.oldest_delay;
        const auto index = first.at({together.ended[i].id, together.ended[i].account});
        batch.ended.push_back(std::move(together.ended[i]));
        results[index] = std::move(batch);
    }
    return results;
}

// Locks accounts queued as deleted; drops entries whose account is not deleted.
std::vector<account_id> lock_deleted(pqxx::work& tx)
{
    std::vector<account_id> accounts;
    for (const auto& row :
         postgres::exec_prepared(tx, lock_deleted_accounts.name, max_deleted_accounts)) {
        const auto account = column<account_id>(row, "account_id");
        const auto state = plans::find(tx, schema, account);
        if (state && state->is_deleted)
            accounts.push_back(account);
        else
            postgres::exec_prepared0(tx, unmark_living_account.name, account.text());
    }
    return accounts;
}

} // namespace

expiry_repository::expiry_repository(postgres::pool& db, std::string outbox_owner,
                                     std::chrono::seconds quarantine)
    : db_(db),
      outbox_owner_(std::move(outbox_owner)),
      quarantine_(quarantine)
{
    for (const auto& statement :
         {claim_due, claim_named, claim_tagged, lock_deleted_accounts, claim_of_deleted,
          purge_deleted_accounts, unmark_living_account, free_inbox_slots, leave_subdomains,
          quarantine_addresses, end_logins, next_due})
        db_.prepare(statement);
}

awaitable<expiry_batch> expiry_repository::expire_due()
{
    return db_.transact([owner = outbox_owner_, quarantine = quarantine_](pqxx::work& tx) {
        return finish(tx, postgres::exec_prepared(tx, claim_due.name), expiry_reason::ttl, owner,
                      quarantine);
    });
}

awaitable<std::optional<std::chrono::microseconds>> expiry_repository::until_next_due()
{
    return db_.transact([](pqxx::work& tx) -> std::optional<std::chrono::microseconds> {
        const auto rows = postgres::exec_prepared(tx, next_due.name);
        if (rows.empty())
            return std::nullopt;
        return std::chrono::microseconds{column<std::int64_t>(rows[0], "micros")};
    });
}

awaitable<result<expiry_batch>> expiry_repository::expire(account_id account, inbox_id id)
{
    std::vector<inbox_end> requested{{account, id, {}}};
    auto ended = co_await expire_all(std::move(requested));
    co_return std::move(ended.front());
}

awaitable<std::vector<result<expiry_batch>>>
expiry_repository::expire_all(std::vector<inbox_end> requested)
{
    return postgres::transact_each<expiry_batch>(
        db_, std::move(requested),
        [owner = outbox_owner_, quarantine = quarantine_](pqxx::work& tx,
                                                          const std::vector<inbox_end>& together) {
            return expire_named(tx, together, owner, quarantine);
        });
}

awaitable<expiry_batch> expiry_repository::expire_tagged(account_id account,
                                                         std::vector<std::string> tags)
{
    return db_.transact([account, tags = postgres::to_array(tags), owner = outbox_owner_,
                         quarantine = quarantine_](pqxx::work& tx) {
        return finish(tx, postgres::exec_prepared(tx, claim_tagged.name, account.text(), tags),
                      expiry_reason::deleted, owner, quarantine);
    });
}

awaitable<expiry_batch> expiry_repository::expire_of_deleted()
{
    return db_.transact([owner = outbox_owner_, quarantine = quarantine_](pqxx::work& tx) {
        const auto accounts = lock_deleted(tx);
        if (accounts.empty())
            return expiry_batch();
        const auto ids = postgres::to_array(accounts);
        auto batch = finish(tx, postgres::exec_prepared(tx, claim_of_deleted.name, ids),
                            expiry_reason::deleted, owner, quarantine);
        const auto left = column<std::int64_t>(
            postgres::exec_prepared1(tx, purge_deleted_accounts.name, ids), "accounts");
        batch.has_more_of_deleted = left > 0 || accounts.size() == max_deleted_accounts;
        return batch;
    });
}

} // namespace tempinbox::mailbox
