#include "mailbox/fault_repository.hpp"

#include "common/faults/messages.hpp"
#include "common/log/log.hpp"
#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/columns.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace tempinbox::mailbox {
namespace {

using faults::stage;
using postgres::column;

using inbox_key = std::pair<account_id, inbox_id>;

// Its end waits, and so does another set.
constexpr postgres::statement lock_inbox_for_faults{"mailbox_lock_inbox_for_faults", R"(
    SELECT EXISTS (
        SELECT 1 FROM mailbox.capture_logins AS l
        WHERE l.account_id = i.account_id AND l.inbox_id = i.inbox_id AND l.revoked_at IS NULL)
        AS has_login
    FROM mailbox.inboxes AS i
    WHERE i.account_id = $1 AND i.inbox_id = $2 AND i.is_live AND i.expires_at > now()
    FOR NO KEY UPDATE)"};

// Before the one row of mailbox.fault_changes, so that nobody holds that while it waits for a
// claim.
constexpr postgres::statement lock_fault_set{"mailbox_lock_fault_set", R"(
    SELECT 1 FROM mailbox.fault_sets WHERE account_id = $1 AND inbox_id = $2 FOR UPDATE)"};

constexpr postgres::statement delete_fault_counts{"mailbox_delete_fault_counts", R"(
    DELETE FROM mailbox.fault_counts WHERE account_id = $1 AND inbox_id = $2)"};

constexpr postgres::statement write_fault_set{"mailbox_write_fault_set", R"(
    WITH next AS (UPDATE mailbox.fault_changes SET version = version + 1 RETURNING version)
    INSERT INTO mailbox.fault_sets AS s (account_id, inbox_id, version, stages, steps)
    SELECT $1, $2, next.version, $3, $4 FROM next
    ON CONFLICT (account_id, inbox_id) DO UPDATE
    SET version = excluded.version, stages = excluded.stages, steps = excluded.steps)"};

constexpr postgres::statement find_fault_set{"mailbox_find_fault_set", R"(
    SELECT s.steps, ARRAY(
        SELECT coalesce(c.used, 0)
        FROM generate_series(0, $3::integer - 1) AS n (step)
            LEFT JOIN mailbox.fault_counts AS c
                ON c.account_id = i.account_id AND c.inbox_id = i.inbox_id AND c.step = n.step
                    AND c.recipient = ''
        ORDER BY n.step) AS used
    FROM mailbox.inboxes AS i
        LEFT JOIN mailbox.fault_sets AS s
            ON s.account_id = i.account_id AND s.inbox_id = i.inbox_id
    WHERE i.account_id = $1 AND i.inbox_id = $2 AND i.is_live AND i.expires_at > now())"};

constexpr postgres::statement list_fault_changes{"mailbox_list_fault_changes", R"(
    SELECT s.version, s.inbox_id, s.stages
    FROM mailbox.fault_sets AS s
        JOIN mailbox.inboxes AS i ON i.account_id = s.account_id AND i.inbox_id = s.inbox_id
    WHERE s.version > $1 AND i.is_live
    ORDER BY s.version LIMIT $2)"};

// In one order, so that two replicas that claim at once cannot deadlock.
constexpr postgres::statement lock_claimed_sets{"mailbox_lock_claimed_sets", R"(
    SELECT s.account_id, s.inbox_id, s.version, s.steps,
        mailbox.to_micros(clock_timestamp()) AS now_micros
    FROM mailbox.fault_sets AS s
        JOIN unnest($1::uuid[], $2::uuid[]) AS g (account_id, inbox_id)
            ON g.account_id = s.account_id AND g.inbox_id = s.inbox_id
    ORDER BY s.account_id, s.inbox_id FOR UPDATE OF s)"};

// By their whole keys: an inbox may have counted a thousand recipients at each of its steps.
constexpr postgres::statement read_fault_counts{"mailbox_read_fault_counts", R"(
    SELECT c.account_id, c.inbox_id, c.step, c.recipient, c.seen, c.used,
        mailbox.to_micros(c.since) AS since_micros
    FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[])
            AS g (account_id, inbox_id, step, recipient)
        JOIN mailbox.fault_counts AS c
            ON c.account_id = g.account_id AND c.inbox_id = g.inbox_id AND c.step = g.step
                AND c.recipient = g.recipient)"};

constexpr postgres::statement write_fault_counts{"mailbox_write_fault_counts", R"(
    INSERT INTO mailbox.fault_counts AS c (
        account_id, inbox_id, step, recipient, seen, used, since)
    SELECT g.account_id, g.inbox_id, g.step, g.recipient, g.seen, g.used,
        mailbox.from_micros(g.since)
    FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::bigint[], $6::bigint[],
                $7::bigint[]) AS g (account_id, inbox_id, step, recipient, seen, used, since)
    ON CONFLICT (account_id, inbox_id, step, recipient) DO UPDATE
    SET seen = excluded.seen, used = excluded.used, since = excluded.since)"};

// Mail is what a commit waits for the disk for. A crash of PostgreSQL may lose uses of the last
// moment, which are then played once more.
constexpr const char* no_disk_wait = "SET LOCAL synchronous_commit = off";

failure not_live(inbox_id inbox)
{
    return failure{errc::not_found, "Inbox " + inbox.text() + " does not exist"};
}

result<std::vector<faults::step>> read_steps(const pqxx::field& field)
{
    tempinbox::inbox::v1::FaultSteps message;
    if (!message.ParseFromString(postgres::bytes_of(field)))
        return failure{errc::internal, "the faults of an inbox cannot be read"};
    return faults::from_proto(message);
}

result<void> check_without_login(const std::vector<faults::step>& steps)
{
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto path = "steps[" + std::to_string(i) + "]";
        const auto at = steps[i].at;
        if (at == stage::auth || at == stage::mail)
            return failure{errc::invalid_argument, path + ".stage must be rcpt, data or end, not " +
                                                       std::string(faults::to_text(at)) +
                                                       ": the inbox has no login"};
        if (at == stage::rcpt && steps[i].closes())
            return failure{errc::invalid_argument,
                           path + " must not close the connection at rcpt (421, cut): the inbox "
                                  "has no login, and its mail may be for others too"};
    }
    return {};
}

result<fault_set> replace_in(pqxx::work& tx, account_id account, inbox_id inbox,
                             const std::vector<faults::step>& steps)
{
    const auto inboxes =
        postgres::exec_prepared(tx, lock_inbox_for_faults.name, account.text(), inbox.text());
    if (inboxes.empty())
        return not_live(inbox);
    if (!column<bool>(inboxes[0], "has_login"))
        if (const auto allowed = check_without_login(steps); !allowed)
            return allowed.error();
    postgres::exec_prepared(tx, lock_fault_set.name, account.text(), inbox.text());
    postgres::exec_prepared(tx, delete_fault_counts.name, account.text(), inbox.text());
    postgres::exec_prepared0(tx, write_fault_set.name, account.text(), inbox.text(),
                             static_cast<int>(faults::stages_of(steps).bits()),
                             pqxx::binarystring(faults::to_proto(steps).SerializeAsString()));
    return fault_set{steps, std::vector<std::int64_t>(steps.size())};
}

// The sets that a batch of claims is about, while this transaction holds them.
class held_sets
{
public:
    held_sets(pqxx::work& tx, const std::vector<fault_claim>& claims,
              std::atomic<std::int64_t>& last_unreadable)
    {
        std::set<inbox_key> names;
        for (const auto& claim : claims)
            for (const auto& part : claim.parts)
                names.emplace(part.account, part.inbox);
        const std::vector<inbox_key> inboxes(names.begin(), names.end());
        const auto [accounts, ids] = postgres::to_arrays(inboxes);
        for (const auto& row : postgres::exec_prepared(tx, lock_claimed_sets.name, accounts, ids)) {
            auto& held = sets_[key_of(row)];
            held.version = column<std::int64_t>(row, "version");
            held.now = column<time_point>(row, "now_micros");
            if (auto steps = read_steps(row["steps"]))
                held.steps = std::move(*steps);
            else if (held.version > last_unreadable) {
                last_unreadable = held.version;
                log::error("the faults of an inbox cannot be read, and are not played",
                           {{"inbox_id", column<inbox_id>(row, "inbox_id").text()},
                            {"error", steps.error().message}});
            }
        }
        read_counts(tx, claims);
    }

    claimed_fault claim(const fault_claim& requested)
    {
        if (requested.is_return)
            return give_back(requested);
        claimed_fault claimed;
        std::vector<faults::counts> counted; // of each part those that it came to
        std::vector<const faults::step*> due;
        for (const auto& part : requested.parts) {
            const auto& held = sets_[{part.account, part.inbox}];
            auto request = request_of(requested, part);
            if (part.settled.version == held.version)
                request.decided = part.settled.decided;
            auto& counts = counted.emplace_back();
            for (const auto& key : faults::keys_of(held.steps, request))
                if (const auto known = held.counted.find(key); known != held.counted.end())
                    counts.insert(*known);
            auto result = faults::evaluate(held.steps, counts, request, held.now);
            due.push_back(result.step ? &held.steps[*result.step] : nullptr);
            claimed.due.push_back(result.step);
            claimed.settled.push_back({held.version, std::move(result.decided)});
            claimed.is_uncounted |= result.is_uncounted;
        }
        // Where others play nothing, nothing is counted either.
        if (requested.is_shared || !is_one_fault(due)) {
            claimed.is_shared =
                std::ranges::any_of(claimed.due, &std::optional<std::size_t>::has_value);
            for (auto& settled : claimed.settled)
                settled.decided.clear();
            return claimed;
        }
        for (std::size_t i = 0; i < requested.parts.size(); ++i) {
            auto& held = sets_[{requested.parts[i].account, requested.parts[i].inbox}];
            for (const auto& [key, count] : counted[i])
                held.counted.insert_or_assign(key, count);
        }
        if (due.front())
            claimed.played = *due.front();
        return claimed;
    }

    void write_counts(pqxx::work& tx) const
    {
        std::vector<inbox_key> inboxes;
        std::vector<std::int32_t> steps;
        std::vector<std::string> recipients;
        std::vector<std::int64_t> seen, used;
        std::vector<std::optional<std::int64_t>> since;
        for (const auto& [inbox, held] : sets_) {
            for (const auto& [key, count] : held.counted) {
                const auto known = held.stored.find(key);
                if (count == (known == held.stored.end() ? faults::count() : known->second))
                    continue;
                inboxes.push_back(inbox);
                steps.push_back(static_cast<std::int32_t>(key.step));
                recipients.push_back(key.recipient);
                seen.push_back(count.seen);
                used.push_back(count.used);
                since.push_back(count.since ? std::optional(to_unix_micros(*count.since))
                                            : std::nullopt);
            }
        }
        if (inboxes.empty())
            return;
        const auto [accounts, ids] = postgres::to_arrays(inboxes);
        postgres::exec_prepared0(tx, write_fault_counts.name, accounts, ids,
                                 postgres::to_array(steps), postgres::to_array(recipients),
                                 postgres::to_array(seen), postgres::to_array(used),
                                 postgres::to_array(since));
    }

private:
    struct held_set
    {
        std::int64_t version = 0;
        std::vector<faults::step> steps;
        faults::counts stored;
        faults::counts counted;
        time_point now;
    };

    static inbox_key key_of(const pqxx::row& row)
    {
        return {column<account_id>(row, "account_id"), column<inbox_id>(row, "inbox_id")};
    }

    claimed_fault give_back(const fault_claim& returned)
    {
        for (const auto& part : returned.parts) {
            auto& held = sets_[{part.account, part.inbox}];
            if (part.settled.version != held.version)
                continue;
            for (const auto& use : part.settled.decided) {
                const auto known = held.counted.find(use.key);
                if (use.is_played && known != held.counted.end() && known->second.used > 0)
                    --known->second.used;
            }
        }
        return {};
    }

    static faults::evaluation_request request_of(const fault_claim& claim,
                                                 const fault_claim::part& part)
    {
        faults::evaluation_request request;
        request.at = claim.at;
        request.has_login = claim.has_login;
        request.recipients = part.recipients;
        return request;
    }

    // Those that the claims may come to.
    void read_counts(pqxx::work& tx, const std::vector<fault_claim>& claims)
    {
        std::set<std::pair<inbox_key, faults::count_key>> keys;
        for (const auto& claim : claims) {
            for (const auto& part : claim.parts) {
                const inbox_key inbox(part.account, part.inbox);
                for (auto& key : faults::keys_of(sets_[inbox].steps, request_of(claim, part)))
                    keys.emplace(inbox, std::move(key));
            }
        }
        std::vector<inbox_key> inboxes;
        std::vector<std::int32_t> steps;
        std::vector<std::string> recipients;
        for (const auto& [inbox, key] : keys) {
            inboxes.push_back(inbox);
            steps.push_back(static_cast<std::int32_t>(key.step));
            recipients.push_back(key.recipient);
        }
        const auto [accounts, ids] = postgres::to_arrays(inboxes);
        for (const auto& row :
             postgres::exec_prepared(tx, read_fault_counts.name, accounts, ids,
                                     postgres::to_array(steps), postgres::to_array(recipients)))
            read_count(row);
    }

    void read_count(const pqxx::row& row)
    {
        auto& held = sets_[key_of(row)];
        faults::count count;
        postgres::read_column(row, "seen", count.seen);
        postgres::read_column(row, "used", count.used);
        postgres::read_column(row, "since_micros", count.since);
        const faults::count_key key{column<std::size_t>(row, "step"),
                                    column<std::string>(row, "recipient")};
        held.stored.emplace(key, count);
        held.counted.emplace(key, count);
    }

    // All inboxes of a message meet the same, or none of them anything.
    static bool is_one_fault(const std::vector<const faults::step*>& due)
    {
        const auto* first = due.front();
        return std::ranges::all_of(due, [&](const faults::step* other) {
            return !first == !other && (!first || first->plays_as(*other));
        });
    }

    std::map<inbox_key, held_set> sets_;
};

} // namespace

fault_repository::fault_repository(postgres::pool& db)
    : db_(db),
      last_unreadable_(std::make_shared<std::atomic<std::int64_t>>(0))
{
    for (const auto& statement : {lock_inbox_for_faults, lock_fault_set, delete_fault_counts,
                                  write_fault_set, find_fault_set, list_fault_changes,
                                  lock_claimed_sets, read_fault_counts, write_fault_counts})
        db_.prepare(statement);
}

awaitable<result<fault_set>> fault_repository::replace(account_id account, inbox_id inbox,
                                                       std::vector<faults::step> steps)
{
    return db_.transact([account, inbox, steps = std::move(steps)](pqxx::work& tx) {
        return replace_in(tx, account, inbox, steps);
    });
}

awaitable<result<fault_set>> fault_repository::find(account_id account, inbox_id inbox)
{
    return postgres::run_autocommit<result<fault_set>>(
        db_, [account, inbox](pqxx::nontransaction& tx) -> result<fault_set> {
            const auto rows =
                postgres::exec_prepared(tx, find_fault_set.name, account.text(), inbox.text(),
                                        static_cast<int>(faults::max_steps));
            if (rows.empty())
                return not_live(inbox);
            fault_set found;
            if (rows[0]["steps"].is_null())
                return found;
            auto steps = read_steps(rows[0]["steps"]);
            if (!steps)
                throw std::runtime_error(steps.error().message);
            found.steps = std::move(*steps);
            for (const auto& used : from_array(rows[0]["used"].c_str()))
                found.used.push_back(std::stoll(used));
            found.used.resize(found.steps.size());
            return found;
        });
}

awaitable<std::vector<fault_change>> fault_repository::read_changes(std::int64_t after)
{
    return postgres::run_autocommit<std::vector<fault_change>>(db_, [after](
                                                                        pqxx::nontransaction& tx) {
        std::vector<fault_change> changes;
        for (const auto& row : postgres::exec_prepared(tx, list_fault_changes.name, after,
                                                       static_cast<std::int64_t>(max_changes))) {
            fault_change change;
            postgres::read_column(row, "version", change.version);
            postgres::read_column(row, "inbox_id", change.inbox);
            change.stages = faults::stage_set(static_cast<unsigned>(column<int>(row, "stages")));
            changes.push_back(change);
        }
        return changes;
    });
}

awaitable<std::vector<claimed_fault>> fault_repository::claim(std::vector<fault_claim> claims)
{
    return db_.transact([claims = std::move(claims), last = last_unreadable_](pqxx::work& tx) {
        tx.exec0(no_disk_wait);
        held_sets sets(tx, claims, *last);
        std::vector<claimed_fault> claimed;
        for (const auto& each : claims)
            claimed.push_back(sets.claim(each));
        sets.write_counts(tx);
        return claimed;
    });
}

} // namespace tempinbox::mailbox
