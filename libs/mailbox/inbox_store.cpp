#include "mailbox/inbox_store.hpp"

#include "common/core/text.hpp"
#include "common/plans/account_state_store.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "mailbox/address_rules.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_list_store.hpp"
#include "mailbox/inbox_row_store.hpp"

#include <limits>

namespace tempinbox::mailbox {
namespace {

using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

// Serializes the creations of one account.
constexpr postgres::statement lock_account{"mailbox_lock_account", R"(
    SELECT version FROM mailbox.account_state WHERE account_id = $1 FOR NO KEY UPDATE)"};

constexpr postgres::statement choose_domain{"mailbox_choose_domain", R"(
    SELECT domain FROM mailbox.domains WHERE CASE WHEN $1::text IS NULL THEN is_default ELSE domain = $1 END)"};

constexpr postgres::statement take_inbox_slot{"mailbox_take_place", R"(
    INSERT INTO mailbox.account_usage AS u (account_id, live_inboxes) SELECT $1::uuid, 1 WHERE $2::bigint > 0
    ON CONFLICT (account_id) DO UPDATE SET live_inboxes = u.live_inboxes + 1 WHERE u.live_inboxes < $2
    RETURNING 1)"};

// Returns no row if the address is taken. $8: an operator may take its own names out of quarantine.
const std::string insert_inbox_sql = R"(
    WITH moment AS MATERIALIZED (
        SELECT date_trunc('milliseconds', clock_timestamp()) AS start),
    life AS (
        SELECT start, least(start + make_interval(secs => $4::bigint), mailbox.from_micros()" +
                                     std::to_string(to_unix_micros(endless)) +
                                     R"()) AS past FROM moment),
    address AS (
        INSERT INTO mailbox.addresses AS a (address, account_id, inbox_id, state, until)
        SELECT $3::text, $1::uuid, $2::uuid, 'live', past FROM life
        ON CONFLICT (address) DO UPDATE
            SET account_id = excluded.account_id, inbox_id = excluded.inbox_id, state = 'live', until = excluded.until
            WHERE a.state = 'quarantined' AND (a.until <= now() OR $8::boolean)
        RETURNING 1)
    INSERT INTO mailbox.inboxes (account_id, inbox_id, email_address, name, tags, metadata, created_at, expires_at)
    SELECT $1::uuid, $2::uuid, $3::text, $5::text, $6::text[], $7::jsonb, start, past FROM life, address
    RETURNING )" + std::string(inbox_columns);
const postgres::statement insert_inbox{"mailbox_insert_inbox", insert_inbox_sql.c_str()};

const std::string find_inbox_sql = "SELECT " + std::string(inbox_columns) +
                                   " FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2";
const postgres::statement find_inbox{"mailbox_find_inbox", find_inbox_sql.c_str()};

constexpr postgres::statement live_inboxes{"mailbox_live_inboxes",
                                           "SELECT coalesce(sum(live_inboxes), 0)::bigint FROM "
                                           "mailbox.account_usage WHERE account_id = $1"};

constexpr postgres::statement find_live_address{"mailbox_who_lives_at", R"(
    SELECT account_id, inbox_id FROM mailbox.addresses WHERE address = $1 AND state = 'live')"};

constexpr const char* lock_operator_names =
    "SELECT pg_advisory_xact_lock(hashtext('mailbox.operator ' || $1))";

constexpr std::chrono::seconds min_ttl{60};

std::optional<inbox> find_in(pqxx::transaction_base& tx, account_id account, inbox_id id)
{
    const auto rows = tx.exec_prepared(find_inbox.name, account.text(), id.text());
    if (rows.empty())
        return std::nullopt;
    return read_inbox(rows[0]);
}

// Locks the account. Stores and returns the newer of the known and the stored state.
plans::account_state store_newer_state(pqxx::work& tx, const plans::account_state& known)
{
    const auto rows = tx.exec_prepared(lock_account.name, known.account.text());
    const auto stored_version =
        rows.empty() ? std::optional<std::int64_t>{} : rows[0][0].as<std::int64_t>();
    if (stored_version && *stored_version > known.version)
        return plans::find(tx, schema, known.account).value();
    if (!stored_version || *stored_version < known.version)
        plans::put(tx, schema, {known});
    return known;
}

failure address_not_available(const std::string& address)
{
    return failure{errc::conflict, "The address " + address + " is not available"};
}

// Writes address, inbox and event; the account is already locked and counted.
result<created_inbox> insert_in(pqxx::work& tx, const new_inbox& requested,
                                const std::string& domain, std::chrono::seconds ttl,
                                bool is_operator, const std::string& outbox_owner)
{
    // A random name is almost never taken; retries tell bad luck from a fault.
    for (int tries = requested.local_part ? 1 : 3; tries > 0; --tries) {
        const std::string address =
            (requested.local_part ? *requested.local_part : make_random_local_part()) + "@" +
            domain;
        const auto rows = tx.exec_prepared(
            insert_inbox.name, requested.account.account.text(), requested.id.text(), address,
            static_cast<std::int64_t>(ttl.count()), or_null(requested.name),
            postgres::to_array(requested.tags), to_json(requested.metadata), is_operator);
        if (rows.empty())
            continue;
        created_inbox created;
        created.inbox = read_inbox(rows[0]);
        created.events.push_back(make_created_event(created.inbox));
        outbox::insert(tx, schema, outbox_owner, created.events);
        return created;
    }
    return address_not_available(requested.local_part.value_or("with a random name") + "@" +
                                 domain);
}

result<std::string> find_domain(pqxx::work& tx, const std::optional<std::string>& requested)
{
    const auto domains = tx.exec_prepared(choose_domain.name, or_null(requested));
    if (!domains.empty())
        return domains[0][0].as<std::string>();
    if (requested)
        return failure{errc::invalid_argument,
                       "domain must be one that GET /v1/domains lists, not " + quote(*requested)};
    return failure{errc::unavailable, "No domain for inboxes has been set up yet"};
}

result<created_inbox> create_in(pqxx::work& tx, const new_inbox& requested, time_point now,
                                const std::string& outbox_owner)
{
    const auto account = store_newer_state(tx, requested.account);
    if (auto made = find_in(tx, account.account, requested.id)) {
        created_inbox before;
        before.inbox = std::move(*made);
        return before;
    }
    if (account.is_deleted)
        return failure{errc::permission_denied, "The account was deleted"};

    const auto& limits = account.limits_at(now);
    const auto ttl = choose_ttl(limits, requested.ttl);
    if (!ttl)
        return ttl.error();

    const auto domain = find_domain(tx, requested.domain);
    if (!domain)
        return domain.error();

    if (tx.exec_prepared(take_inbox_slot.name, account.account.text(),
                         static_cast<std::int64_t>(limits.live_inboxes))
            .empty())
        return failure{errc::permission_denied,
                       "All " + std::to_string(limits.live_inboxes) + " live inboxes of plan " +
                           account.plan_at(now) +
                           " are used; DELETE /v1/inboxes/{inboxId} frees one"};

    if (requested.local_part && is_reserved(*requested.local_part))
        return address_not_available(*requested.local_part + "@" + *domain);
    return insert_in(tx, requested, *domain, *ttl, false, outbox_owner);
}

} // namespace

result<std::chrono::seconds> choose_ttl(const plans::plan_limits& limits,
                                        std::optional<std::chrono::seconds> requested)
{
    if (!requested)
        return std::max(std::min(limits.default_ttl, limits.max_ttl), min_ttl);
    if (*requested < min_ttl || *requested > limits.max_ttl)
        return failure{errc::invalid_argument,
                       "ttlSeconds must be an integer from " + std::to_string(min_ttl.count()) +
                           " to " + std::to_string(limits.max_ttl.count()) +
                           " (the plan's longest life), not " + std::to_string(requested->count())};
    return *requested;
}

inbox_store::inbox_store(postgres::pool& db, std::string outbox_owner)
    : db_(db),
      outbox_owner_(std::move(outbox_owner))
{
    for (const auto& statement : {lock_account, choose_domain, take_inbox_slot, live_inboxes,
                                  insert_inbox, find_inbox, find_live_address})
        db_.prepare(statement);
    prepare_inbox_lists(db_);
}

awaitable<result<created_inbox>> inbox_store::create(new_inbox requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now,
                         owner = outbox_owner_](pqxx::work& tx) -> result<created_inbox> {
        return create_in(tx, requested, now, owner);
    });
}

awaitable<result<void>> inbox_store::check(new_inbox requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now](pqxx::work& tx) -> result<void> {
        if (const auto ttl = choose_ttl(requested.account.limits_at(now), requested.ttl); !ttl)
            return ttl.error();
        if (const auto domain = find_domain(tx, requested.domain); !domain)
            return domain.error();
        return {};
    });
}

awaitable<result<std::vector<created_inbox>>>
inbox_store::create_operator_inboxes(account_id account, std::string domain)
{
    return db_.transact([account, domain = std::move(domain), owner = outbox_owner_](
                            pqxx::work& tx) -> result<std::vector<created_inbox>> {
        std::vector<created_inbox> all;
        tx.exec_prepared(lock_account.name, account.text());
        if (const auto known = plans::find(tx, schema, account); known && known->is_deleted)
            return failure{errc::permission_denied, "The account was deleted"};
        tx.exec_params(lock_operator_names, domain);
        for (const char* local_part : {"postmaster", "abuse"}) {
            const auto there =
                tx.exec_prepared(find_live_address.name, std::string(local_part) + "@" + domain);
            if (!there.empty() && account_id::parse(there[0][0].c_str()).value() != account)
                return address_not_available(std::string(local_part) + "@" + domain);
            if (!there.empty())
                continue;
            new_inbox requested;
            requested.account.account = account;
            requested.id = inbox_id::make();
            requested.local_part = local_part;
            tx.exec_prepared(take_inbox_slot.name, account.text(),
                             std::numeric_limits<std::int64_t>::max());
            auto made = insert_in(
                tx, requested, domain,
                std::chrono::duration_cast<std::chrono::seconds>(endless.time_since_epoch()), true,
                owner);
            if (!made)
                return made.error();
            all.push_back(std::move(*made));
        }
        return all;
    });
}

awaitable<result<inbox>> inbox_store::find(account_id account, inbox_id id)
{
    return run_autocommit<result<inbox>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<inbox> {
            auto found = find_in(tx, account, id);
            if (!found)
                return failure{errc::not_found, "Inbox " + id.text() + " does not exist"};
            return std::move(*found);
        });
}

awaitable<std::int64_t> inbox_store::count_live(account_id account)
{
    return run_autocommit<std::int64_t>(db_, [account](pqxx::nontransaction& tx) {
        return tx.exec_prepared1(live_inboxes.name, account.text())[0].as<std::int64_t>();
    });
}

awaitable<result<page<inbox>>> inbox_store::list(account_id account, inbox_filter filter, int limit,
                                                 std::string cursor)
{
    return run_autocommit<result<page<inbox>>>(
        db_,
        [account, filter = std::move(filter), limit, cursor = std::move(cursor)](
            pqxx::nontransaction& tx) { return list_inboxes(tx, account, filter, limit, cursor); });
}

} // namespace tempinbox::mailbox
