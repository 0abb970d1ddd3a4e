#include "mailbox/inbox_creation.hpp"

#include "common/core/text.hpp"
#include "common/plans/account_state_store.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/composite_type.hpp"
#include "common/postgres/session.hpp"
#include "common/trace/current.hpp"
#include "mailbox/account_lock.hpp"
#include "mailbox/address_rules.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_row.hpp"
#include "mailbox/login_creation.hpp"
#include "mailbox/renewal.hpp"
#include "mailbox/subdomain_creation.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr std::chrono::seconds min_ttl{60};
// A random name is almost never taken; retries tell bad luck from a fault.
constexpr int tries_of_random_names = 3;
// Beside the one that each inbox of a batch may need.
constexpr std::size_t spare_passes = 8;

const std::string create_all_sql = R"(
    SELECT outcome, email_address, created_micros, expires_micros
    FROM mailbox.create_inboxes($1, mailbox.from_micros()" +
                                   std::to_string(to_unix_micros(endless)) + "))";
const postgres::statement create_all{"mailbox_create_inboxes", create_all_sql.c_str()};

const std::string find_existing_sql = "SELECT" + select_list(inbox_columns) +
                                      R"( FROM mailbox.inboxes
    WHERE (account_id, inbox_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])))";
const postgres::statement find_existing{"mailbox_find_created_inboxes", find_existing_sql.c_str()};

constexpr postgres::statement choose_domain{"mailbox_choose_domain", R"(
    SELECT domain FROM mailbox.domains
    WHERE CASE WHEN $1::text IS NULL THEN is_default ELSE domain = $1 END
    UNION ALL
    SELECT domain FROM mailbox.subdomains
    WHERE domain = $1 AND account_id = $2 AND live_inboxes > 0)"};

constexpr postgres::statement take_operator_slot{"mailbox_take_operator_slot", R"(
    INSERT INTO mailbox.live_inbox_counts AS u (account_id, live_inboxes) VALUES ($1, 1)
    ON CONFLICT (account_id) DO UPDATE SET live_inboxes = u.live_inboxes + 1)"};

constexpr postgres::statement find_live_address{"mailbox_find_live_address", R"(
    SELECT account_id, inbox_id FROM mailbox.addresses WHERE address = $1 AND state = 'live')"};

constexpr const char* lock_operator_names =
    "SELECT pg_advisory_xact_lock(hashtext('mailbox.operator ' || $1))";

// An operator may take its own names out of quarantine. Returns no row if the address is taken.
const std::string insert_operator_inbox_sql = R"(
    WITH life AS MATERIALIZED (
        SELECT date_trunc('milliseconds', clock_timestamp()) AS start, mailbox.from_micros()" +
                                              std::to_string(to_unix_micros(endless)) +
                                              R"() AS past),
    address AS (
        INSERT INTO mailbox.addresses AS a (address, account_id, inbox_id, state, until)
        SELECT $3::text, $1::uuid, $2::uuid, 'live', past FROM life
        ON CONFLICT (address) DO UPDATE
            SET account_id = excluded.account_id, inbox_id = excluded.inbox_id, state = 'live',
                until = excluded.until
            WHERE a.state = 'quarantined'
        RETURNING 1)
    INSERT INTO mailbox.inboxes (
        account_id, inbox_id, email_address, created_at, expires_at, created_event_id,
        first_expires_at)
    SELECT $1::uuid, $2::uuid, $3::text, start, past, $4::uuid, past FROM life, address
    RETURNING )" + select_list(inbox_columns);
const postgres::statement insert_operator_inbox{"mailbox_insert_operator_inbox",
                                                insert_operator_inbox_sql.c_str()};

failure address_not_available(const std::string& address)
{
    return failure{errc::conflict, "The address " + address + " is not available",
                   error_reason::address_taken};
}

failure taken_address(const new_inbox& requested, const std::string& address)
{
    if (requested.local_part)
        return address_not_available(address);
    return failure{errc::conflict,
                   "The address with a random name" + address.substr(address.find('@')) +
                       " is not available",
                   error_reason::address_taken};
}

// For an inbox that no pass decided.
failure requested_address_not_available()
{
    return failure{errc::conflict, "The address asked for is not available",
                   error_reason::address_taken};
}

failure domain_not_available(const std::optional<std::string>& requested)
{
    if (requested)
        return failure{errc::invalid_argument,
                       "domain must be one that GET /v1/domains lists, not " + quote(*requested)};
    return failure{errc::unavailable, "No domain for inboxes has been set up yet"};
}

failure all_slots_used(const plans::account_state& account, time_point now)
{
    return failure{errc::permission_denied,
                   "All " + std::to_string(account.limits_at(now).live_inboxes) +
                       " live inboxes of plan " + account.plan_at(now) +
                       " are used; DELETE /v1/inboxes/{inboxId} frees one",
                   error_reason::inbox_limit};
}

using states = std::map<account_id, plans::account_state>;

states lock_accounts_of(pqxx::work& tx, const std::vector<new_inbox>& requested)
{
    std::vector<plans::account_state> known;
    known.reserve(requested.size());
    for (const auto& inbox : requested)
        known.push_back(inbox.account);
    return lock_accounts(tx, known);
}

// An inbox of the batch that is not decided yet.
struct candidate
{
    std::size_t index = 0; // in the batch
    std::string local_part;
    std::optional<std::string> domain; // a random one of a catch-all, once there is one
    std::chrono::seconds ttl{0};
    std::optional<failure> refusal; // unless it was created before
    event_id event = event_id::make();
    int tries_left = 1;
};

std::vector<candidate> make_candidates(const std::vector<new_inbox>& requested,
                                       const states& accounts, time_point now)
{
    std::vector<candidate> all;
    for (std::size_t i = 0; i < requested.size(); ++i) {
        const auto& inbox = requested[i];
        const auto& account = accounts.at(inbox.account.account);
        auto& added = all.emplace_back();
        added.index = i;
        added.local_part = inbox.local_part ? *inbox.local_part : make_random_local_part();
        added.domain = inbox.domain;
        const bool has_random_name = !inbox.local_part || (inbox.is_catch_all() && !inbox.domain);
        added.tries_left = has_random_name ? tries_of_random_names : 1;
        const auto ttl = choose_ttl(account.limits_at(now), inbox.ttl);
        if (account.is_deleted)
            added.refusal = failure{errc::permission_denied, "The account was deleted",
                                    error_reason::account_deleted};
        else if (!ttl)
            added.refusal = ttl.error();
        else if (const auto renewal = check_renewal(account, now);
                 inbox.renews_on_use.value_or(false) && !renewal)
            added.refusal = renewal.error();
        else
            added.ttl = *ttl;
    }
    return all;
}

// The catch-alls are alone: what comes behind may be in their subdomains.
std::vector<std::vector<candidate>> split_at_catch_alls(const std::vector<new_inbox>& requested,
                                                        std::vector<candidate> all)
{
    std::vector<std::vector<candidate>> parts;
    bool is_open = false;
    for (auto& one : all) {
        const bool is_catch_all = requested[one.index].is_catch_all();
        if (is_catch_all || !is_open)
            parts.emplace_back();
        parts.back().push_back(std::move(one));
        is_open = !is_catch_all;
    }
    return parts;
}

// What became of a candidate; create_inboxes.sql says when.
enum class creation_outcome { created, existing, refused, no_domain, limit, taken, again, lost };

creation_outcome parse_outcome(std::string_view text)
{
    using enum creation_outcome;
    constexpr std::pair<std::string_view, creation_outcome> outcomes[] = {
        {"created", created},     {"existing", existing}, {"refused", refused},
        {"no_domain", no_domain}, {"limit", limit},       {"taken", taken},
        {"again", again},         {"lost", lost}};
    for (const auto& [name, outcome] : outcomes)
        if (name == text)
            return outcome;
    throw std::runtime_error("mailbox.create_inboxes returned the unknown outcome " + quote(text));
}

created_inbox make_created(const new_inbox& requested, const event_id& event, const pqxx::row& row)
{
    created_inbox created;
    auto& stored = created.inbox;
    stored.account = requested.account.account;
    stored.id = requested.id;
    stored.address = column<std::string>(row, "email_address");
    stored.name = requested.name;
    stored.tags = requested.tags;
    stored.metadata = requested.metadata;
    stored.created_at = column<time_point>(row, "created_micros");
    stored.expires_at = column<time_point>(row, "expires_micros");
    const trace::scope here(requested.cause.is_valid()
                                ? std::make_shared<const trace::context>(requested.cause)
                                : trace::current());
    created.events.push_back(make_created_event(stored, event));
    created.events.push_back(make_state_event(stored, stored.created_at));
    return created;
}

// Creates the inboxes of a batch in one statement, as a rule. One whose id or address another one
// of the batch has is decided by a further statement, after that one.
class creation
{
public:
    creation(pqxx::work& tx, const std::vector<new_inbox>& requested, time_point now)
        : tx_(tx),
          requested_(requested),
          now_(now),
          accounts_(lock_accounts_of(tx, requested)),
          results_(requested.size(), requested_address_not_available())
    {}

    std::vector<result<created_inbox>> run()
    {
        if (std::any_of(requested_.begin(), requested_.end(),
                        [](const new_inbox& each) { return each.is_catch_all(); }))
            lock_what_catch_alls_share();
        for (auto& part :
             split_at_catch_alls(requested_, make_candidates(requested_, accounts_, now_)))
            decide_all(std::move(part));
        for (std::size_t i = 0; i < requested_.size(); ++i)
            if (results_[i])
                set_options(requested_[i], results_[i]->inbox);
        // Logins come last: they lock a row that all accounts share.
        for (std::size_t i = 0; i < requested_.size(); ++i)
            if (requested_[i].login && results_[i])
                add_login(requested_[i], results_[i]->inbox);
        read_existing();
        return std::move(results_);
    }

private:
    // All subdomains at once: those of one catch-all after the other would be locked in the order
    // of the requests.
    void lock_what_catch_alls_share()
    {
        lock_live_inbox_counts(tx_, accounts_);
        std::vector<std::string> of_catch_alls, of_named_inboxes;
        for (const auto& each : requested_)
            if (each.domain)
                (each.is_catch_all() ? of_catch_alls : of_named_inboxes).push_back(*each.domain);
        lock_subdomains(tx_, of_catch_alls, of_named_inboxes);
    }

    void decide_all(std::vector<candidate> open)
    {
        for (auto passes = open.size() + spare_passes; !open.empty() && passes > 0; --passes) {
            auto held = hold_beyond_captures(open);
            if (!open.empty() && requested_[open.front().index].is_catch_all())
                take_subdomain_for(open.front());
            open = decide(std::move(open));
            std::move(held.begin(), held.end(), std::back_inserter(open));
        }
    }

    void take_subdomain_for(candidate& inbox)
    {
        const auto& requested = requested_[inbox.index];
        if (inbox.refusal)
            return;
        auto taken =
            take_subdomain(tx_, accounts_.at(requested.account.account), requested.domain, now_);
        if (taken)
            inbox.domain = std::move(*taken);
        else
            inbox.refusal = taken.error();
    }

    // Takes those out of `open` whose login has no place left in the plan unless others that have
    // one fail: they wait for these. Refuses those that have none.
    std::vector<candidate> hold_beyond_captures(std::vector<candidate>& open)
    {
        std::map<account_id, std::int64_t> under_way;
        std::vector<candidate> decided_now, held;
        for (auto& inbox : open) {
            const auto& requested = requested_[inbox.index];
            if (!requested.login || inbox.refusal) {
                decided_now.push_back(std::move(inbox));
                continue;
            }
            const auto& account = accounts_.at(requested.account.account);
            auto& others = under_way[account.account];
            const auto allowed = check_capture_limit(account, logins_of(account) + others, now_);
            if (!allowed && others > 0) {
                held.push_back(std::move(inbox));
                continue;
            }
            if (allowed)
                ++others;
            else
                inbox.refusal = allowed.error();
            decided_now.push_back(std::move(inbox));
        }
        open = std::move(decided_now);
        return held;
    }

    std::int64_t& logins_of(const plans::account_state& account)
    {
        const auto known = logins_.find(account.account);
        if (known != logins_.end())
            return known->second;
        return logins_[account.account] = count_logins(tx_, account.account);
    }

    void set_options(const new_inbox& requested, inbox& created)
    {
        const bool is_capture = requested.login.has_value();
        const auto& limits = accounts_.at(created.account).limits_at(now_);
        created.renews_on_use =
            requested.renews_on_use.value_or(is_capture && renews_inboxes(limits));
        if (created.renews_on_use || requested.renews_on_use)
            write_renewal(tx_, created.account, created.id, created.renews_on_use);
        if (!is_capture && !requested.retention)
            return;
        created.retention = apply(default_retention(is_capture),
                                  requested.retention.value_or(retention_change()), is_capture);
        write_retention(tx_, created.account, created.id, created.retention);
    }

    void add_login(const new_inbox& requested, inbox& created)
    {
        created.login = insert_login(tx_, created.account, created.id, requested.login.value());
    }

    // Returns those that are not decided yet.
    std::vector<candidate> decide(std::vector<candidate> open)
    {
        const auto rows = create(open);
        std::vector<creation_outcome> outcomes;
        for (const auto& row : rows)
            outcomes.push_back(parse_outcome(column<std::string>(row, "outcome")));
        const bool is_any_lost =
            std::find(outcomes.begin(), outcomes.end(), creation_outcome::lost) != outcomes.end();

        std::vector<candidate> left;
        for (std::size_t i = 0; i < open.size(); ++i) {
            const auto outcome = outcomes.at(i);
            if (is_undecided(open[i], outcome, is_any_lost))
                left.push_back(std::move(open[i]));
            else
                settle(open[i], outcome, rows[static_cast<pqxx::result::size_type>(i)]);
        }
        return left;
    }

    // Gives a candidate whose random name is taken another name while it has tries left; a
    // catch-all takes another subdomain.
    bool is_undecided(candidate& inbox, creation_outcome outcome, bool is_any_lost) const
    {
        switch (outcome) {
        case creation_outcome::again:
        case creation_outcome::lost:
            return true;
        case creation_outcome::limit:
            return is_any_lost;
        case creation_outcome::taken:
            if (--inbox.tries_left == 0)
                return false;
            if (!requested_[inbox.index].is_catch_all())
                inbox.local_part = make_random_local_part();
            return true;
        case creation_outcome::created:
        case creation_outcome::existing:
        case creation_outcome::refused:
        case creation_outcome::no_domain:
            break;
        }
        return false;
    }

    void settle(const candidate& decided, creation_outcome outcome, const pqxx::row& row)
    {
        const auto& requested = requested_[decided.index];
        auto& settled = results_[decided.index];
        switch (outcome) {
        case creation_outcome::created:
            settled = make_created(requested, decided.event, row);
            if (requested.login)
                ++logins_of(accounts_.at(requested.account.account));
            break;
        case creation_outcome::existing:
            existing_.push_back(decided.index);
            break;
        case creation_outcome::refused:
            settled = decided.refusal.value();
            break;
        case creation_outcome::no_domain:
            settled = domain_not_available(requested.domain);
            break;
        case creation_outcome::limit:
            settled = all_slots_used(accounts_.at(requested.account.account), now_);
            break;
        case creation_outcome::taken:
            settled = taken_address(requested, column<std::string>(row, "email_address"));
            break;
        case creation_outcome::again:
        case creation_outcome::lost:
            break; // never settled: a further statement decides
        }
    }

    pqxx::result create(const std::vector<candidate>& open)
    {
        postgres::binary_array rows(postgres::composite_oid(tx_, "mailbox.new_inbox"));
        for (const auto& inbox : open) {
            const auto& requested = requested_[inbox.index];
            const auto& limits = accounts_.at(requested.account.account).limits_at(now_);
            const bool is_reserved_name =
                requested.local_part && is_reserved(*requested.local_part);
            rows.add_row(requested.account.account, requested.id, inbox.refusal.has_value(),
                         inbox.local_part, inbox.domain, is_reserved_name,
                         static_cast<std::int64_t>(inbox.ttl.count()),
                         static_cast<std::int64_t>(limits.live_inboxes), requested.name,
                         requested.tags, to_json(requested.metadata), inbox.event);
        }
        return postgres::exec_prepared(tx_, create_all.name, rows.parameter());
    }

    void read_existing()
    {
        if (existing_.empty())
            return;
        std::vector<std::pair<account_id, inbox_id>> names;
        names.reserve(existing_.size());
        for (const auto index : existing_)
            names.emplace_back(requested_[index].account.account, requested_[index].id);
        // The response with the password was lost.
        for (const auto index : existing_)
            if (const auto& repeated = requested_[index]; repeated.login)
                replace_password(tx_, repeated.account.account, *repeated.login);
        const auto [accounts, ids] = postgres::to_arrays(names);
        std::map<std::pair<account_id, inbox_id>, inbox> inboxes;
        for (const auto& row : postgres::exec_prepared(tx_, find_existing.name, accounts, ids)) {
            auto read = read_inbox(row);
            inboxes.emplace(std::pair(read.account, read.id), std::move(read));
        }
        for (std::size_t i = 0; i < names.size(); ++i)
            results_[existing_[i]] = created_inbox{inboxes.at(names[i]), {}};
    }

    pqxx::work& tx_;
    const std::vector<new_inbox>& requested_;
    time_point now_;
    states accounts_;
    std::vector<result<created_inbox>> results_;
    std::vector<std::size_t> existing_;
    std::map<account_id, std::int64_t> logins_; // live ones, with those of this batch
};

} // namespace

std::vector<postgres::statement> creation_statements()
{
    auto statements = login_statements();
    for (const auto& more : {retention_statements(), renewal_statements(), subdomain_statements()})
        statements.insert(statements.end(), more.begin(), more.end());
    for (const auto& statement : {lock_account_states, create_all, find_existing, choose_domain,
                                  take_operator_slot, find_live_address, insert_operator_inbox})
        statements.push_back(statement);
    return statements;
}

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

std::vector<result<created_inbox>> create_inboxes(pqxx::work& tx,
                                                  const std::vector<new_inbox>& requested,
                                                  time_point now, const std::string& outbox_owner)
{
    auto results = creation(tx, requested, now).run();
    std::vector<outbox::row> events;
    for (const auto& created : results)
        if (created)
            events.insert(events.end(), created->events.begin(), created->events.end());
    outbox::insert(tx, schema, outbox_owner, events);
    return results;
}

result<void> check_new_inbox(pqxx::work& tx, const new_inbox& requested, time_point now)
{
    if (const auto ttl = choose_ttl(requested.account.limits_at(now), requested.ttl); !ttl)
        return ttl.error();
    if (requested.is_catch_all())
        return check_subdomain(tx, requested.domain);
    const char* const domain = or_null(requested.domain);
    if (postgres::exec_prepared(tx, choose_domain.name, domain, requested.account.account.text())
            .empty())
        return domain_not_available(requested.domain);
    return {};
}

result<std::vector<created_inbox>> create_operator_inboxes(pqxx::work& tx, account_id account,
                                                           const std::string& domain,
                                                           const std::string& outbox_owner)
{
    postgres::exec_prepared(tx, lock_account_states.name, postgres::to_array(std::vector{account}));
    if (const auto known = plans::find(tx, schema, account); known && known->is_deleted)
        return failure{errc::permission_denied, "The account was deleted",
                       error_reason::account_deleted};
    tx.exec_params(lock_operator_names, domain);
    std::vector<created_inbox> all;
    for (const char* local_part : {"postmaster", "abuse"}) {
        const auto address = std::string(local_part) + "@" + domain;
        const auto owners = postgres::exec_prepared(tx, find_live_address.name, address);
        if (!owners.empty() && column<account_id>(owners[0], "account_id") != account)
            return address_not_available(address);
        if (!owners.empty())
            continue;
        postgres::exec_prepared(tx, take_operator_slot.name, account.text());
        const auto event = event_id::make();
        const auto rows = postgres::exec_prepared(tx, insert_operator_inbox.name, account.text(),
                                                  inbox_id::make().text(), address, event.text());
        if (rows.empty())
            return address_not_available(address);
        auto& created = all.emplace_back();
        created.inbox = read_inbox(rows[0]);
        created.events.push_back(make_created_event(created.inbox, event));
        created.events.push_back(make_state_event(created.inbox, created.inbox.created_at));
        outbox::insert(tx, schema, outbox_owner, created.events);
    }
    return all;
}

} // namespace tempinbox::mailbox
