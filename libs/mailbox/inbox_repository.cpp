#include "mailbox/inbox_repository.hpp"

#include "common/core/text.hpp"
#include "common/plans/account_state_store.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "mailbox/address_rules.hpp"
#include "mailbox/columns.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/row_columns.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tempinbox::mailbox {
namespace {

using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

constexpr std::chrono::seconds min_ttl{60};
constexpr int max_rows_read = 2'000;

std::optional<time_point> read_time(const pqxx::field& field)
{
    if (field.is_null())
        return std::nullopt;
    return from_unix_micros(field.as<std::int64_t>());
}

// An ended inbox shows no mail.
constexpr row_column<inbox> inbox_columns[] = {
    {"account_id", "account_id",
     [](inbox& row, const pqxx::field& value) {
         row.account = account_id::parse(value.c_str()).value();
     }},
    {"inbox_id", "inbox_id",
     [](inbox& row, const pqxx::field& value) { row.id = inbox_id::parse(value.c_str()).value(); }},
    {"email_address", "email_address",
     [](inbox& row, const pqxx::field& value) { row.address = value.as<std::string>(); }},
    {"name", "name",
     [](inbox& row, const pqxx::field& value) {
         if (!value.is_null())
             row.name = value.as<std::string>();
     }},
    {"tags", "tags",
     [](inbox& row, const pqxx::field& value) { row.tags = from_array(value.c_str()); }},
    {"metadata", "metadata",
     [](inbox& row, const pqxx::field& value) {
         row.metadata = metadata_from_json(value.c_str());
     }},
    {"lives", "is_live AND expires_at > now()",
     [](inbox& row, const pqxx::field& value) { row.is_live = value.as<bool>(); }},
    {"email_count", "CASE WHEN is_live AND expires_at > now() THEN email_count ELSE 0 END",
     [](inbox& row, const pqxx::field& value) { row.email_count = value.as<std::int64_t>(); }},
    {"email_bytes", "CASE WHEN is_live AND expires_at > now() THEN email_bytes ELSE 0 END",
     [](inbox& row, const pqxx::field& value) { row.email_bytes = value.as<std::int64_t>(); }},
    {"last_sequence", "last_sequence",
     [](inbox& row, const pqxx::field& value) { row.last_sequence = value.as<std::int64_t>(); }},
    {"last_email_micros", "mailbox.to_micros(last_email_at)",
     [](inbox& row, const pqxx::field& value) { row.last_email_at = read_time(value); }},
    {"created_micros", "mailbox.to_micros(created_at)",
     [](inbox& row, const pqxx::field& value) { row.created_at = read_time(value).value(); }},
    {"expires_micros", "mailbox.to_micros(expires_at)",
     [](inbox& row, const pqxx::field& value) { row.expires_at = read_time(value).value(); }},
    {"expired_micros",
     "mailbox.to_micros(coalesce(expired_at, CASE WHEN expires_at <= now() THEN expires_at END))",
     [](inbox& row, const pqxx::field& value) { row.expired_at = read_time(value); }},
    {"state_version", "state_version",
     [](inbox& row, const pqxx::field& value) { row.state_version = value.as<std::int64_t>(); }},
};

inbox read_inbox(const pqxx::row& row, int first_column = 0)
{
    inbox found;
    read_columns(inbox_columns, found, row, first_column);
    return found;
}

// Serializes the creations of one account.
constexpr postgres::statement lock_account{"mailbox_lock_account", R"(
    SELECT version FROM mailbox.account_states WHERE account_id = $1 FOR NO KEY UPDATE)"};

constexpr postgres::statement choose_domain{"mailbox_choose_domain", R"(
    SELECT domain FROM mailbox.domains
    WHERE CASE WHEN $1::text IS NULL THEN is_default ELSE domain = $1 END)"};

constexpr postgres::statement take_inbox_slot{"mailbox_take_place", R"(
    INSERT INTO mailbox.live_inbox_counts AS u (account_id, live_inboxes)
    SELECT $1::uuid, 1 WHERE $2::bigint > 0
    ON CONFLICT (account_id) DO UPDATE SET live_inboxes = u.live_inboxes + 1
        WHERE u.live_inboxes < $2
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
            SET account_id = excluded.account_id, inbox_id = excluded.inbox_id, state = 'live',
                until = excluded.until
            WHERE a.state = 'quarantined' AND (a.until <= now() OR $8::boolean)
        RETURNING 1)
    INSERT INTO mailbox.inboxes (
        account_id, inbox_id, email_address, name, tags, metadata, created_at, expires_at,
        created_event_id, first_expires_at)
    SELECT $1::uuid, $2::uuid, $3::text, $5::text, $6::text[], $7::jsonb, start, past,
        $9::uuid, past
    FROM life, address
    RETURNING )" + select_list(inbox_columns);
const postgres::statement insert_inbox{"mailbox_insert_inbox", insert_inbox_sql.c_str()};

const std::string find_inbox_sql = "SELECT " + select_list(inbox_columns) +
                                   " FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2";
const postgres::statement find_inbox{"mailbox_find_inbox", find_inbox_sql.c_str()};

// One row of nulls if the inbox exists and nothing was refused.
const std::string list_rejections_sql = R"(
    SELECT r.reason, r.mail_from, r.reply, r.attempts, mailbox.to_micros(r.first_at),
           mailbox.to_micros(r.last_at)
    FROM mailbox.inboxes AS i
        LEFT JOIN mailbox.rejections AS r
            ON r.account_id = i.account_id AND r.inbox_id = i.inbox_id
                AND r.last_at > now() - interval '24 hours'
    WHERE i.account_id = $1 AND i.inbox_id = $2
    ORDER BY r.last_at DESC, r.reason, r.mail_from
    LIMIT )" + std::to_string(max_rejections_per_inbox);
const postgres::statement find_rejections{"mailbox_find_rejections", list_rejections_sql.c_str()};

constexpr postgres::statement live_inboxes{"mailbox_live_inboxes",
                                           "SELECT coalesce(sum(live_inboxes), 0)::bigint FROM "
                                           "mailbox.live_inbox_counts WHERE account_id = $1"};

constexpr postgres::statement find_live_address{"mailbox_who_lives_at", R"(
    SELECT account_id, inbox_id FROM mailbox.addresses WHERE address = $1 AND state = 'live')"};

constexpr const char* lock_operator_names =
    "SELECT pg_advisory_xact_lock(hashtext('mailbox.operator ' || $1))";

failure does_not_exist(inbox_id id)
{
    return failure{errc::not_found, "Inbox " + id.text() + " does not exist"};
}

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

// Writes address, inbox and events; the account is already locked and counted.
result<created_inbox> insert_in(pqxx::work& tx, const new_inbox& requested,
                                const std::string& domain, std::chrono::seconds ttl,
                                bool is_operator, const std::string& outbox_owner)
{
    const auto event = event_id::make();
    // A random name is almost never taken; retries tell bad luck from a fault.
    for (int tries = requested.local_part ? 1 : 3; tries > 0; --tries) {
        const std::string address =
            (requested.local_part ? *requested.local_part : make_random_local_part()) + "@" +
            domain;
        const auto rows =
            tx.exec_prepared(insert_inbox.name, requested.account.account.text(),
                             requested.id.text(), address, static_cast<std::int64_t>(ttl.count()),
                             or_null(requested.name), postgres::to_array(requested.tags),
                             to_json(requested.metadata), is_operator, event.text());
        if (rows.empty())
            continue;
        created_inbox created;
        created.inbox = read_inbox(rows[0]);
        created.events.push_back(make_created_event(created.inbox, event));
        created.events.push_back(make_state_event(created.inbox, created.inbox.created_at));
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

// $1 account, $2 $3 the keyset position, $4 how many rows to read, $5 tag, $6 whether only ended
// ones, $7 how many to return. The last row returned marks the last row read.
std::string list_sql(const std::string& condition)
{
    return "WITH looked AS MATERIALIZED (SELECT" + select_list(inbox_columns) +
           R"(, created_at FROM mailbox.inboxes
        WHERE account_id = $1
            AND (created_at, inbox_id) < (mailbox.from_micros($2), $3::uuid))" +
           condition + R"(
        ORDER BY created_at DESC, inbox_id DESC LIMIT $4::bigint),
    matched AS (
        SELECT * FROM looked WHERE ($5::text IS NULL OR $5 = ANY (tags)) AND NOT ($6 AND lives)
        ORDER BY created_at DESC, inbox_id DESC LIMIT $7::bigint)
    (SELECT false, (SELECT count(*) FROM looked), m.* FROM matched m
     ORDER BY created_at DESC, inbox_id DESC)
    UNION ALL
    (SELECT true, (SELECT count(*) FROM looked), l.* FROM looked l
     ORDER BY created_at, inbox_id LIMIT 1))";
}

const std::string list_any_sql = list_sql("");
const postgres::statement list_any{"mailbox_list_inboxes", list_any_sql.c_str()};

const std::string list_active_sql = list_sql(" AND is_live AND expires_at > now()");
const postgres::statement list_active{"mailbox_list_active_inboxes", list_active_sql.c_str()};

// An address belongs to the one inbox that had it last: it is not reused while that inbox can be
// read.
const std::string find_by_address_sql =
    "SELECT" + select_list(inbox_columns) + R"( FROM mailbox.inboxes
    WHERE account_id = $1
        AND inbox_id = (SELECT inbox_id FROM mailbox.addresses
                        WHERE address = $2 AND account_id = $1))";
const postgres::statement find_by_address{"mailbox_find_inbox_by_address",
                                          find_by_address_sql.c_str()};

std::string text_of(account_id account, const inbox_filter& filter)
{
    return "inboxes " + account.text() + " " + std::to_string(static_cast<int>(filter.status)) +
           (filter.tag ? " tag " + *filter.tag : "");
}

std::string position_of(const inbox& row)
{
    return std::to_string(to_unix_micros(row.created_at)) + " " + row.id.text();
}

// A row's key; initially above every row.
struct position
{
    std::int64_t created_at = to_unix_micros(endless);
    std::string id = "ffffffff-ffff-ffff-ffff-ffffffffffff";
};

result<position> read_position(const std::string& cursor, account_id account,
                               const inbox_filter& filter)
{
    if (cursor.empty())
        return position{};
    const auto text = read_cursor(cursor, text_of(account, filter));
    if (!text)
        return text.error();
    position from;
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), from.created_at);
    from.id = text->substr(
        std::min<std::size_t>(static_cast<std::size_t>(end - text->data()) + 1, text->size()));
    if (error != std::errc{} || !uuid::parse(from.id))
        return failure{errc::invalid_argument, "cursor is not one that this list gave out"};
    return from;
}

bool matches(const inbox& found, const inbox_filter& filter)
{
    return (filter.status != inbox_status::active || found.is_live) &&
           (filter.status != inbox_status::expired || !found.is_live) &&
           (!filter.tag ||
            std::find(found.tags.begin(), found.tags.end(), *filter.tag) != found.tags.end());
}

result<page<inbox>> list_inboxes(pqxx::transaction_base& tx, account_id account,
                                 const inbox_filter& filter, int limit, const std::string& cursor)
{
    page<inbox> result_page;
    if (filter.address) {
        // At most one row, so this list never returned a cursor.
        if (!cursor.empty())
            return failure{errc::invalid_argument, "cursor is not one that this list gave out"};
        for (const auto& row : tx.exec_prepared(find_by_address.name, account.text(),
                                                to_lower_ascii(*filter.address)))
            if (auto found = read_inbox(row); matches(found, filter))
                result_page.items.push_back(std::move(found));
        return result_page;
    }

    const auto from = read_position(cursor, account, filter);
    if (!from)
        return from.error();
    const bool only_ended = filter.status == inbox_status::expired;
    const int row_limit = filter.tag || only_ended ? max_rows_read : limit + 1;
    const auto& statement = filter.status == inbox_status::active ? list_active : list_any;
    const auto rows = tx.exec_prepared(statement.name, account.text(), from->created_at, from->id,
                                       row_limit, or_null(filter.tag), only_ended, limit + 1);
    if (rows.empty())
        return result_page;

    const auto mark = rows.size() - 1;
    const bool has_more_matches = static_cast<int>(mark) > limit;
    for (pqxx::result::size_type i = 0; i < mark && static_cast<int>(i) < limit; ++i)
        result_page.items.push_back(read_inbox(rows[i], 2));
    if (has_more_matches)
        result_page.next_cursor =
            make_cursor(text_of(account, filter), position_of(result_page.items.back()));
    else if (rows[mark][1].as<int>() == row_limit)
        result_page.next_cursor =
            make_cursor(text_of(account, filter), position_of(read_inbox(rows[mark], 2)));
    return result_page;
}

const std::string lock_inbox_sql = "SELECT" + select_list(inbox_columns) + R"( FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND is_live AND expires_at > now() FOR UPDATE)";
const postgres::statement lock_inbox{"mailbox_lock_inbox_to_change", lock_inbox_sql.c_str()};

// $6: seconds from now, or NULL.
const std::string change_inbox_sql = R"(
    UPDATE mailbox.inboxes SET name = $3, tags = $4::text[], metadata = $5::jsonb,
        expires_at = coalesce(
            date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $6::bigint),
            expires_at),
        state_version = state_version + CASE WHEN $6::bigint IS NULL THEN 0 ELSE 1 END
    WHERE account_id = $1 AND inbox_id = $2
    RETURNING )" + select_list(inbox_columns);
const postgres::statement change_inbox{"mailbox_change_inbox", change_inbox_sql.c_str()};

constexpr postgres::statement change_address_end{"mailbox_change_address_end", R"(
    UPDATE mailbox.addresses SET until = mailbox.from_micros($3)
    WHERE address = $1 AND inbox_id = $2::uuid AND state = 'live')"};

std::optional<plans::account_state> newer_stored_state(pqxx::work& tx,
                                                       const plans::account_state& known)
{
    auto stored = plans::find(tx, schema, known.account);
    if (stored && stored->version > known.version)
        return stored;
    return std::nullopt;
}

result<void> apply(inbox& target, const inbox_change& requested)
{
    if (requested.name)
        target.name = requested.name->empty() ? std::nullopt : requested.name;
    if (requested.tags)
        target.tags = *requested.tags;
    if (requested.removes_all_metadata)
        target.metadata.clear();
    for (const auto& [key, value] : requested.metadata) {
        if (value)
            target.metadata[key] = *value;
        else
            target.metadata.erase(key);
    }
    if (target.metadata.size() > inbox_repository::max_metadata)
        return failure{errc::invalid_argument,
                       "metadata must have at most 20 pairs, with this change it would have " +
                           std::to_string(target.metadata.size())};
    return {};
}

result<changed_inbox> change_in(pqxx::work& tx, const inbox_change& requested, time_point now,
                                const std::string& outbox_owner)
{
    const auto account = requested.account.account.text();
    const auto rows = tx.exec_prepared(lock_inbox.name, account, requested.id.text());
    if (rows.empty())
        return does_not_exist(requested.id);
    auto target = read_inbox(rows[0]);
    if (const auto fits = apply(target, requested); !fits)
        return fits.error();

    std::optional<std::string> seconds;
    if (requested.ttl) {
        const auto stored = newer_stored_state(tx, requested.account);
        const auto ttl =
            choose_ttl((stored ? *stored : requested.account).limits_at(now), requested.ttl);
        if (!ttl)
            return ttl.error();
        seconds = std::to_string(ttl->count());
    }
    const auto changed = tx.exec_prepared1(change_inbox.name, account, requested.id.text(),
                                           or_null(target.name), postgres::to_array(target.tags),
                                           to_json(target.metadata), or_null(seconds));
    changed_inbox after;
    after.inbox = read_inbox(changed);
    if (!requested.ttl)
        return after;
    tx.exec_prepared0(change_address_end.name, after.inbox.address, after.inbox.id.text(),
                      to_unix_micros(after.inbox.expires_at));
    after.events.push_back(make_state_event(after.inbox, now));
    outbox::insert(tx, schema, outbox_owner, after.events);
    return after;
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

inbox_repository::inbox_repository(postgres::pool& db, std::string outbox_owner)
    : db_(db),
      outbox_owner_(std::move(outbox_owner))
{
    for (const auto& statement :
         {lock_account, choose_domain, take_inbox_slot, live_inboxes, insert_inbox, find_inbox,
          find_live_address, find_rejections, list_any, list_active, find_by_address, lock_inbox,
          change_inbox, change_address_end})
        db_.prepare(statement);
}

awaitable<result<created_inbox>> inbox_repository::create(new_inbox requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now,
                         owner = outbox_owner_](pqxx::work& tx) -> result<created_inbox> {
        return create_in(tx, requested, now, owner);
    });
}

awaitable<result<void>> inbox_repository::check(new_inbox requested, time_point now)
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
inbox_repository::create_operator_inboxes(account_id account, std::string domain)
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

awaitable<result<inbox>> inbox_repository::find(account_id account, inbox_id id)
{
    return run_autocommit<result<inbox>>(db_,
                                         [account, id](pqxx::nontransaction& tx) -> result<inbox> {
                                             auto found = find_in(tx, account, id);
                                             if (!found)
                                                 return does_not_exist(id);
                                             return std::move(*found);
                                         });
}

awaitable<result<std::vector<rejection>>> inbox_repository::list_rejections(account_id account,
                                                                            inbox_id id)
{
    using rejections = std::vector<rejection>;
    return run_autocommit<result<rejections>>(
        db_, [account, id](pqxx::nontransaction& tx) -> result<rejections> {
            const auto rows = tx.exec_prepared(find_rejections.name, account.text(), id.text());
            if (rows.empty())
                return does_not_exist(id);
            rejections found;
            for (const auto& row : rows) {
                if (row[0].is_null())
                    continue;
                rejection one;
                one.reason = row[0].as<std::string>();
                one.mail_from = row[1].as<std::string>();
                one.reply = row[2].as<std::string>();
                one.attempts = row[3].as<std::int64_t>();
                one.first_at = from_unix_micros(row[4].as<std::int64_t>());
                one.last_at = from_unix_micros(row[5].as<std::int64_t>());
                found.push_back(std::move(one));
            }
            return found;
        });
}

awaitable<std::int64_t> inbox_repository::count_live(account_id account)
{
    return run_autocommit<std::int64_t>(db_, [account](pqxx::nontransaction& tx) {
        return tx.exec_prepared1(live_inboxes.name, account.text())[0].as<std::int64_t>();
    });
}

awaitable<result<page<inbox>>> inbox_repository::list(account_id account, inbox_filter filter,
                                                      int limit, std::string cursor)
{
    return run_autocommit<result<page<inbox>>>(
        db_,
        [account, filter = std::move(filter), limit, cursor = std::move(cursor)](
            pqxx::nontransaction& tx) { return list_inboxes(tx, account, filter, limit, cursor); });
}

awaitable<result<changed_inbox>> inbox_repository::change(inbox_change requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now, owner = outbox_owner_](
                            pqxx::work& tx) { return change_in(tx, requested, now, owner); });
}

} // namespace tempinbox::mailbox
