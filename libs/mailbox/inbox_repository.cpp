#include "mailbox/inbox_repository.hpp"

#include "common/core/text.hpp"
#include "common/log/log.hpp"
#include "common/plans/account_state_store.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/lock_wait.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/cursor.hpp"
#include "mailbox/email_removal.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_row.hpp"
#include "mailbox/renewal.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <numeric>

namespace tempinbox::mailbox {
namespace {

using batch_part = std::vector<std::size_t>; // indexes of a batch's inboxes

using postgres::column;
using postgres::run_autocommit; // reads need no transaction: each statement has its own snapshot

constexpr int max_rows_read = 2'000;
// Until then transactions of one batch begin. Who asks for an inbox waits 5 s.
constexpr std::chrono::seconds max_creation_time{3};
// For a row, where all inboxes are one account's and nobody else waits for them, or the others were
// tried.
constexpr std::chrono::milliseconds account_lock_wait{1'000};

const std::string find_inbox_sql = "SELECT " + select_list(inbox_columns) +
                                   " FROM mailbox.inboxes WHERE account_id = $1 AND inbox_id = $2";
const postgres::statement find_inbox{"mailbox_find_inbox", find_inbox_sql.c_str()};

// One row of nulls if the inbox exists and nothing was refused.
const std::string list_rejections_sql = R"(
    SELECT r.reason, r.mail_from, r.reply, r.attempts,
           mailbox.to_micros(r.first_at) AS first_micros,
           mailbox.to_micros(r.last_at) AS last_micros
    FROM mailbox.inboxes AS i
        LEFT JOIN mailbox.rejections AS r
            ON r.account_id = i.account_id AND r.inbox_id = i.inbox_id
                AND r.last_at > now() - interval '24 hours'
    WHERE i.account_id = $1 AND i.inbox_id = $2
    ORDER BY r.last_at DESC, r.reason, r.mail_from
    LIMIT )" + std::to_string(max_rejections_per_inbox);
const postgres::statement find_rejections{"mailbox_find_rejections", list_rejections_sql.c_str()};

constexpr postgres::statement live_inboxes{"mailbox_live_inboxes",
                                           "SELECT coalesce(sum(live_inboxes), 0)::bigint AS count "
                                           "FROM mailbox.live_inbox_counts WHERE account_id = $1"};

constexpr postgres::statement live_tagged_inboxes{"mailbox_live_tagged_inboxes", R"(
    SELECT count(*) AS count FROM mailbox.inboxes
    WHERE account_id = $1 AND is_live AND expires_at > now() AND $2::text = ANY (tags))"};

constexpr postgres::statement find_tagged_inbox{"mailbox_find_tagged_inbox", R"(
    SELECT 1 FROM mailbox.inboxes
    WHERE account_id = $1 AND inbox_id = $2 AND $3::text = ANY (tags))"};
constexpr postgres::statement find_tagged_email{"mailbox_find_tagged_email", R"(
    SELECT 1 FROM mailbox.emails AS e
        JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = $1 AND e.email_id = $2 AND $3::text = ANY (i.tags))"};

failure does_not_exist(inbox_id id)
{
    return failure{errc::not_found, "Inbox " + id.text() + " does not exist"};
}

std::optional<inbox> find_in(pqxx::transaction_base& tx, account_id account, inbox_id id)
{
    const auto rows = postgres::exec_prepared(tx, find_inbox.name, account.text(), id.text());
    if (rows.empty())
        return std::nullopt;
    return read_inbox(rows[0]);
}

// $1 account, $2 $3 the keyset position, $4 how many rows to read, $5 tags, $6 whether only ended
// ones, $7 how many to return. The last row returned marks the last row read.
std::string list_sql(list_order order, const std::string& condition)
{
    const std::string newest_first = "created_at DESC, inbox_id DESC";
    const std::string oldest_first = "created_at, inbox_id";
    const bool is_oldest_first = order == list_order::oldest_first;
    const auto& forward = is_oldest_first ? oldest_first : newest_first;
    const auto& backward = is_oldest_first ? newest_first : oldest_first;
    return "WITH scanned AS MATERIALIZED (SELECT" + select_list(inbox_columns) +
           R"(, created_at FROM mailbox.inboxes
        WHERE account_id = $1
            AND (created_at, inbox_id) )" +
           (is_oldest_first ? ">" : "<") + " (mailbox.from_micros($2), $3::uuid)" + condition +
           " ORDER BY " + forward + R"( LIMIT $4::bigint),
    matched AS (
        SELECT * FROM scanned WHERE tags @> $5::text[] AND NOT ($6 AND lives)
        ORDER BY )" +
           forward + R"( LIMIT $7::bigint)
    (SELECT (SELECT count(*) FROM scanned) AS scanned_rows, m.* FROM matched m
     ORDER BY )" +
           forward + R"()
    UNION ALL
    (SELECT (SELECT count(*) FROM scanned), s.* FROM scanned s
     ORDER BY )" +
           backward + " LIMIT 1)";
}

const std::string list_any_sql = list_sql(list_order::newest_first, "");
const postgres::statement list_any{"mailbox_list_inboxes", list_any_sql.c_str()};
const std::string list_any_oldest_first_sql = list_sql(list_order::oldest_first, "");
const postgres::statement list_any_oldest_first{"mailbox_list_inboxes_oldest_first",
                                                list_any_oldest_first_sql.c_str()};

constexpr const char* active_condition = " AND is_live AND expires_at > now()";
const std::string list_active_sql = list_sql(list_order::newest_first, active_condition);
const postgres::statement list_active{"mailbox_list_active_inboxes", list_active_sql.c_str()};
const std::string list_active_oldest_first_sql =
    list_sql(list_order::oldest_first, active_condition);
const postgres::statement list_active_oldest_first{"mailbox_list_active_inboxes_oldest_first",
                                                   list_active_oldest_first_sql.c_str()};

const postgres::statement& list_statement(inbox_status status, list_order order)
{
    if (status == inbox_status::active)
        return order == list_order::oldest_first ? list_active_oldest_first : list_active;
    return order == list_order::oldest_first ? list_any_oldest_first : list_any;
}

// An address belongs to the one inbox that had it last: only below a subdomain is it reused while
// that inbox can be read.
const std::string find_by_address_sql =
    "SELECT" + select_list(inbox_columns) + R"( FROM mailbox.inboxes
    WHERE account_id = $1
        AND inbox_id = (SELECT inbox_id FROM mailbox.addresses
                        WHERE address = $2 AND account_id = $1))";
const postgres::statement find_by_address{"mailbox_find_inbox_by_address",
                                          find_by_address_sql.c_str()};

std::string text_of(account_id account, const inbox_filter& filter, list_order order)
{
    const std::string list = order == list_order::oldest_first ? "inboxes asc " : "inboxes ";
    auto text = list + account.text() + " " + std::to_string(static_cast<int>(filter.status));
    for (const auto& tag : filter.tags)
        text += " tag " + tag;
    return text;
}

std::string position_of(const inbox& row)
{
    return std::to_string(to_unix_micros(row.created_at)) + " " + row.id.text();
}

// A row's key.
struct position
{
    std::int64_t created_at = 0;
    std::string id;
};

// Before every row, in the order of the list.
position start_of(list_order order)
{
    if (order == list_order::oldest_first)
        return position{0, uuid().text()};
    return position{to_unix_micros(endless), uuid::max().text()};
}

result<position> read_position(const std::string& cursor, account_id account,
                               const inbox_filter& filter, list_order order)
{
    if (cursor.empty())
        return start_of(order);
    const auto text = read_cursor(cursor, text_of(account, filter, order));
    if (!text)
        return text.error();
    position from;
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), from.created_at);
    from.id = text->substr(
        std::min<std::size_t>(static_cast<std::size_t>(end - text->data()) + 1, text->size()));
    if (error != std::errc{} || !uuid::parse(from.id))
        return failure{errc::invalid_argument, "cursor is not one that this list gave out",
                       error_reason::invalid_cursor};
    return from;
}

bool matches(const inbox& candidate, const inbox_filter& filter)
{
    return (filter.status != inbox_status::active || candidate.is_live) &&
           (filter.status != inbox_status::expired || !candidate.is_live) &&
           std::all_of(filter.tags.begin(), filter.tags.end(), [&](const std::string& tag) {
               return std::find(candidate.tags.begin(), candidate.tags.end(), tag) !=
                      candidate.tags.end();
           });
}

result<page<inbox>> list_inboxes(pqxx::transaction_base& tx, account_id account,
                                 const inbox_filter& filter, int limit, const std::string& cursor,
                                 list_order order)
{
    page<inbox> result_page;
    if (filter.address) {
        // At most one row, so this list never returned a cursor.
        if (!cursor.empty())
            return failure{errc::invalid_argument, "cursor is not one that this list gave out",
                           error_reason::invalid_cursor};
        for (const auto& row : postgres::exec_prepared(tx, find_by_address.name, account.text(),
                                                       to_lower_ascii(*filter.address)))
            if (auto inbox_at_address = read_inbox(row); matches(inbox_at_address, filter))
                result_page.items.push_back(std::move(inbox_at_address));
        return result_page;
    }

    const auto from = read_position(cursor, account, filter, order);
    if (!from)
        return from.error();
    const bool only_ended = filter.status == inbox_status::expired;
    const int row_limit = !filter.tags.empty() || only_ended ? max_rows_read : limit + 1;
    const auto rows = postgres::exec_prepared(
        tx, list_statement(filter.status, order).name, account.text(), from->created_at, from->id,
        row_limit, postgres::to_array(filter.tags), only_ended, limit + 1);
    if (rows.empty())
        return result_page;

    const auto mark = rows.size() - 1;
    const bool has_more_matches = static_cast<int>(mark) > limit;
    for (pqxx::result::size_type i = 0; i < mark && static_cast<int>(i) < limit; ++i)
        result_page.items.push_back(read_inbox(rows[i]));
    if (has_more_matches)
        result_page.next_cursor =
            make_cursor(text_of(account, filter, order), position_of(result_page.items.back()));
    else if (column<int>(rows[mark], "scanned_rows") == row_limit)
        result_page.next_cursor =
            make_cursor(text_of(account, filter, order), position_of(read_inbox(rows[mark])));
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
        ttl_seconds = coalesce($6::bigint, ttl_seconds),
        state_version = state_version + CASE WHEN $6::bigint IS NULL THEN 0 ELSE 1 END
    WHERE account_id = $1 AND inbox_id = $2
    RETURNING )" + select_list(inbox_columns);
const postgres::statement change_inbox{"mailbox_change_inbox", change_inbox_sql.c_str()};

constexpr postgres::statement change_address_end{"mailbox_change_address_end", R"(
    UPDATE mailbox.addresses SET until = mailbox.from_micros($3)
    WHERE address = $1 AND inbox_id = $2::uuid AND state = 'live')"};

// Caches hold the end of a login's inbox.
constexpr postgres::statement note_login_end{"mailbox_note_login_end", R"(
    WITH next AS (
        UPDATE mailbox.capture_changes SET version = version + 1
        WHERE EXISTS (SELECT 1 FROM mailbox.capture_logins AS l
                      WHERE l.account_id = $1 AND l.inbox_id = $2 AND l.revoked_at IS NULL)
        RETURNING version)
    UPDATE mailbox.capture_logins AS l SET version = next.version
    FROM next WHERE l.account_id = $1 AND l.inbox_id = $2 AND l.revoked_at IS NULL)"};

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
    const auto rows = postgres::exec_prepared(tx, lock_inbox.name, account, requested.id.text());
    if (rows.empty())
        return does_not_exist(requested.id);
    auto target = read_inbox(rows[0]);
    if (const auto fits = apply(target, requested); !fits)
        return fits.error();

    std::optional<std::string> seconds;
    const bool begins_renewal = requested.renews_on_use.value_or(false);
    if (requested.ttl || begins_renewal) {
        const auto account_now =
            newer_stored_state(tx, requested.account).value_or(requested.account);
        if (requested.ttl) {
            const auto ttl = choose_ttl(account_now.limits_at(now), requested.ttl);
            if (!ttl)
                return ttl.error();
            seconds = std::to_string(ttl->count());
        }
        if (const auto allowed = check_renewal(account_now, now); begins_renewal && !allowed)
            return allowed.error();
    }
    if (requested.renews_on_use)
        write_renewal(tx, target.account, target.id, *requested.renews_on_use);
    if (requested.retention)
        write_retention(tx, target.account, target.id,
                        apply(target.retention, *requested.retention, target.login.has_value()));
    const auto changed = postgres::exec_prepared1(
        tx, change_inbox.name, account, requested.id.text(), or_null(target.name),
        postgres::to_array(target.tags), to_json(target.metadata), or_null(seconds));
    changed_inbox after;
    after.inbox = read_inbox(changed);
    if (!requested.ttl)
        return after;
    postgres::exec_prepared0(tx, change_address_end.name, after.inbox.address,
                             after.inbox.id.text(), to_unix_micros(after.inbox.expires_at));
    after.events.push_back(make_state_event(after.inbox, now));
    outbox::insert(tx, schema, outbox_owner, after.events);
    postgres::exec_prepared0(tx, note_login_end.name, account, requested.id.text());
    return after;
}

batch_part whole(std::size_t size)
{
    batch_part all(size);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

// An account whose row somebody holds fails with its inboxes alone.
std::vector<batch_part> split_by_account(const std::vector<new_inbox>& requested,
                                         const batch_part& part)
{
    std::map<account_id, batch_part> by_account;
    for (const auto index : part)
        by_account[requested[index].account.account].push_back(index);
    std::vector<batch_part> parts;
    parts.reserve(by_account.size());
    for (auto& [account, indexes] : by_account)
        parts.push_back(std::move(indexes));
    return parts;
}

bool is_of_one_account(const std::vector<new_inbox>& requested)
{
    return std::all_of(requested.begin(), requested.end(), [&](const new_inbox& each) {
        return each.account.account == requested.front().account.account;
    });
}

// Any other error is one inbox's: halves find it in a few transactions.
std::vector<batch_part> halve(const batch_part& part)
{
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    return {{part.begin(), middle}, {middle, part.end()}};
}

} // namespace

inbox_repository::inbox_repository(postgres::pool& db, std::string outbox_owner)
    : db_(db),
      outbox_owner_(std::move(outbox_owner))
{
    for (const auto& statement : creation_statements())
        db_.prepare(statement);
    for (const auto& statement :
         {live_inboxes, live_tagged_inboxes, find_tagged_inbox, find_tagged_email, find_inbox,
          find_rejections, list_any, list_any_oldest_first, list_active, list_active_oldest_first,
          find_by_address, lock_inbox, change_inbox, change_address_end, note_login_end})
        db_.prepare(statement);
}

awaitable<result<created_inbox>> inbox_repository::create(new_inbox requested, time_point now)
{
    return db_.transact([requested = std::vector{std::move(requested)}, now,
                         owner = outbox_owner_](pqxx::work& tx) -> result<created_inbox> {
        return std::move(mailbox::create_inboxes(tx, requested, now, owner).front());
    });
}

awaitable<inbox_repository::creations>
inbox_repository::create_all(std::vector<new_inbox> requested, time_point now)
{
    creations results(requested.size(), failure{errc::unavailable, "The inbox was not created"});
    const auto give_up = std::chrono::steady_clock::now() + max_creation_time;
    const bool is_of_one = is_of_one_account(requested);
    std::deque<batch_part> parts{whole(requested.size())}, held;
    while ((!parts.empty() || !held.empty()) && std::chrono::steady_clock::now() < give_up) {
        const bool is_last_try = parts.empty();
        auto& next = is_last_try ? held : parts;
        const auto part = std::move(next.front());
        next.pop_front();
        auto lock_wait = postgres::together_lock_wait;
        if (is_of_one || is_last_try)
            lock_wait = account_lock_wait;
        else if (part.size() < requested.size())
            lock_wait = postgres::part_lock_wait;
        const auto status = co_await attempt(requested, part, now, lock_wait, results);
        if (status == attempt_status::lost)
            break;
        if (status == attempt_status::done ||
            (status == attempt_status::refused && part.size() == 1))
            continue;
        auto smaller =
            status == attempt_status::contended ? split_by_account(requested, part) : halve(part);
        if (smaller.size() > 1)
            std::move(smaller.begin(), smaller.end(), std::back_inserter(parts));
        else if (is_of_one)
            parts.push_back(part); // nobody else waits for it: until the time is over
        else if (!is_last_try)
            held.push_back(part);
    }
    co_return results;
}

// Creates a part of the batch in one transaction.
awaitable<inbox_repository::attempt_status>
inbox_repository::attempt(const std::vector<new_inbox>& requested, const batch_part& part,
                          time_point now, std::chrono::milliseconds lock_wait, creations& results)
{
    std::vector<new_inbox> inboxes;
    for (const auto index : part)
        inboxes.push_back(requested[index]);
    auto status = attempt_status::done;
    failure reason;
    try {
        auto created = co_await db_.transact(
            [inboxes = std::move(inboxes), now, lock_wait, owner = outbox_owner_](pqxx::work& tx) {
                postgres::limit_lock_wait(tx, lock_wait);
                return mailbox::create_inboxes(tx, inboxes, now, owner);
            });
        for (std::size_t i = 0; i < part.size(); ++i)
            results[part[i]] = std::move(created[i]);
        co_return status;
    } catch (const postgres::timed_out& error) {
        status = attempt_status::contended;
        reason = {errc::unavailable, error.what()};
    } catch (const pqxx::deadlock_detected& error) {
        status = attempt_status::contended;
        reason = {errc::unavailable, error.what()};
    } catch (const dependency_error& error) {
        // Nothing of this part was created, or nobody knows; others may have been.
        if (part.size() == requested.size())
            throw;
        status = attempt_status::lost;
        reason = {errc::unavailable, error.what()};
    } catch (const std::exception& error) {
        // The others of the batch are created all the same.
        status = attempt_status::refused;
        reason = {errc::internal, error.what()};
    }
    const bool is_last_try = status == attempt_status::refused && part.size() == 1;
    log::write(is_last_try ? log::level::error : log::level::warning, "inboxes not created",
               {{"inboxes", part.size()},
                {"error", std::string_view(reason.message).substr(0, reason.message.find('\n'))}});
    for (const auto index : part)
        results[index] = failure{reason.code, "The inbox was not created"};
    co_return status;
}

awaitable<result<void>> inbox_repository::check(new_inbox requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now](pqxx::work& tx) {
        return check_new_inbox(tx, requested, now);
    });
}

awaitable<result<std::vector<created_inbox>>>
inbox_repository::create_operator_inboxes(account_id account, std::string domain)
{
    return db_.transact(
        [account, domain = std::move(domain), owner = outbox_owner_](pqxx::work& tx) {
            return mailbox::create_operator_inboxes(tx, account, domain, owner);
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
            const auto rows =
                postgres::exec_prepared(tx, find_rejections.name, account.text(), id.text());
            if (rows.empty())
                return does_not_exist(id);
            rejections refused;
            for (const auto& row : rows) {
                if (row["reason"].is_null())
                    continue;
                rejection read;
                read.reason = column<std::string>(row, "reason");
                read.mail_from = column<std::string>(row, "mail_from");
                read.reply = column<std::string>(row, "reply");
                read.attempts = column<std::int64_t>(row, "attempts");
                read.first_at = column<time_point>(row, "first_micros");
                read.last_at = column<time_point>(row, "last_micros");
                refused.push_back(std::move(read));
            }
            return refused;
        });
}

awaitable<std::int64_t> inbox_repository::count_live(account_id account,
                                                     std::optional<std::string> tag)
{
    return run_autocommit<std::int64_t>(db_, [account, tag](pqxx::nontransaction& tx) {
        const auto row =
            tag ? postgres::exec_prepared1(tx, live_tagged_inboxes.name, account.text(), *tag)
                : postgres::exec_prepared1(tx, live_inboxes.name, account.text());
        return column<std::int64_t>(row, "count");
    });
}

awaitable<result<void>> inbox_repository::check_tag(account_id account, inbox_id id,
                                                    std::string tag)
{
    return run_autocommit<result<void>>(
        db_, [account, id, tag = std::move(tag)](pqxx::nontransaction& tx) -> result<void> {
            if (postgres::exec_prepared(tx, find_tagged_inbox.name, account.text(), id.text(), tag)
                    .empty())
                return does_not_exist(id);
            return {};
        });
}

awaitable<result<void>> inbox_repository::check_tag(account_id account, email_id id,
                                                    std::string tag)
{
    return run_autocommit<result<void>>(
        db_, [account, id, tag = std::move(tag)](pqxx::nontransaction& tx) -> result<void> {
            if (postgres::exec_prepared(tx, find_tagged_email.name, account.text(), id.text(), tag)
                    .empty())
                return email_does_not_exist(id);
            return {};
        });
}

awaitable<result<page<inbox>>> inbox_repository::list(account_id account, inbox_filter filter,
                                                      int limit, std::string cursor,
                                                      list_order order)
{
    return run_autocommit<result<page<inbox>>>(db_, [account, filter = std::move(filter), limit,
                                                     cursor = std::move(cursor),
                                                     order](pqxx::nontransaction& tx) {
        return list_inboxes(tx, account, filter, limit, cursor, order);
    });
}

awaitable<result<changed_inbox>> inbox_repository::change(inbox_change requested, time_point now)
{
    return db_.transact([requested = std::move(requested), now, owner = outbox_owner_](
                            pqxx::work& tx) { return change_in(tx, requested, now, owner); });
}

} // namespace tempinbox::mailbox
