#include "mailbox/inbox_creation.hpp"

#include "common/core/text.hpp"
#include "common/plans/account_state_store.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/composite_type.hpp"
#include "common/trace/current.hpp"
#include "mailbox/address_rules.hpp"
#include "mailbox/inbox_events.hpp"
#include "mailbox/inbox_row.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace tempinbox::mailbox {
namespace {

constexpr std::chrono::seconds min_ttl{60};
// A random name is almost never taken; retries tell bad luck from a fault.
constexpr int tries_of_random_names = 3;
// Beside the one that each inbox of a batch may need.
constexpr std::size_t spare_passes = 8;

// Serializes the creations of each account.
constexpr postgres::statement lock_accounts{"mailbox_lock_accounts", R"(
    SELECT s.account_id, s.version FROM mailbox.account_states AS s
    WHERE s.account_id = ANY ($1::uuid[])
    ORDER BY s.account_id FOR NO KEY UPDATE)"};

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
    WHERE CASE WHEN $1::text IS NULL THEN is_default ELSE domain = $1 END)"};

constexpr postgres::statement take_operator_slot{"mailbox_take_operator_place", R"(
    INSERT INTO mailbox.live_inbox_counts AS u (account_id, live_inboxes) VALUES ($1, 1)
    ON CONFLICT (account_id) DO UPDATE SET live_inboxes = u.live_inboxes + 1)"};

constexpr postgres::statement find_live_address{"mailbox_who_lives_at", R"(
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
    return failure{errc::conflict, "The address " + address + " is not available"};
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
                       " are used; DELETE /v1/inboxes/{inboxId} frees one"};
}

using states = std::map<account_id, plans::account_state>;

// Locks the accounts in the order of their ids. Stores and returns the newest of the known and the
// stored states.
states store_newer_states(pqxx::work& tx, const std::vector<new_inbox>& requested)
{
    states newest;
    for (const auto& one : requested) {
        const auto [known, is_new] = newest.try_emplace(one.account.account, one.account);
        if (!is_new && known->second.version < one.account.version)
            known->second = one.account;
    }
    std::vector<account_id> accounts;
    for (const auto& [account, state] : newest)
        accounts.push_back(account);
    std::map<account_id, std::int64_t> stored;
    for (const auto& row : tx.exec_prepared(lock_accounts.name, postgres::to_array(accounts)))
        stored.emplace(account_id::parse(row[0].c_str()).value(), row[1].as<std::int64_t>());

    std::vector<plans::account_state> to_store;
    for (auto& [account, state] : newest) {
        const auto found = stored.find(account);
        if (found == stored.end() || found->second < state.version)
            to_store.push_back(state);
        else if (found->second > state.version)
            state = plans::find(tx, schema, account).value();
    }
    plans::put(tx, schema, to_store);
    return newest;
}

// An inbox of the batch that is not decided yet.
struct candidate
{
    std::size_t index = 0; // in the batch
    std::string local_part;
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
        const auto& one = requested[i];
        const auto& account = accounts.at(one.account.account);
        auto& made = all.emplace_back();
        made.index = i;
        made.local_part = one.local_part ? *one.local_part : make_random_local_part();
        made.tries_left = one.local_part ? 1 : tries_of_random_names;
        const auto ttl = choose_ttl(account.limits_at(now), one.ttl);
        if (account.is_deleted)
            made.refusal = failure{errc::permission_denied, "The account was deleted"};
        else if (!ttl)
            made.refusal = ttl.error();
        else
            made.ttl = *ttl;
    }
    return all;
}

created_inbox make_created(const new_inbox& requested, const event_id& event, const pqxx::row& row)
{
    created_inbox created;
    auto& made = created.inbox;
    made.account = requested.account.account;
    made.id = requested.id;
    made.address = row[1].as<std::string>();
    made.name = requested.name;
    made.tags = requested.tags;
    made.metadata = requested.metadata;
    made.created_at = from_unix_micros(row[2].as<std::int64_t>());
    made.expires_at = from_unix_micros(row[3].as<std::int64_t>());
    const trace::scope here(requested.cause.is_valid()
                                ? std::make_shared<const trace::context>(requested.cause)
                                : trace::current());
    created.events.push_back(make_created_event(made, event));
    created.events.push_back(make_state_event(made, made.created_at));
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
          accounts_(store_newer_states(tx, requested)),
          results_(requested.size(), address_not_available("asked for"))
    {}

    std::vector<result<created_inbox>> run()
    {
        auto open = make_candidates(requested_, accounts_, now_);
        for (auto passes = open.size() + spare_passes; !open.empty() && passes > 0; --passes)
            open = decide(std::move(open));
        read_existing();
        return std::move(results_);
    }

private:
    // Returns those that are not decided yet.
    std::vector<candidate> decide(std::vector<candidate> open)
    {
        const auto rows = create(open);
        const bool is_any_lost = std::any_of(rows.begin(), rows.end(), [](const auto& row) {
            return std::string_view(row[0].c_str()) == "lost";
        });
        std::vector<candidate> left;
        for (std::size_t i = 0; i < open.size(); ++i) {
            auto& one = open[i];
            const auto row = rows.at(static_cast<pqxx::result::size_type>(i));
            const std::string_view outcome(row[0].c_str());
            const bool is_tried_again = outcome == "taken" && --one.tries_left > 0;
            if (is_tried_again)
                one.local_part = make_random_local_part();
            if (is_tried_again || outcome == "again" || outcome == "lost" ||
                (outcome == "limit" && is_any_lost))
                left.push_back(std::move(one));
            else
                settle(one, outcome, row);
        }
        return left;
    }

    void settle(const candidate& decided, std::string_view outcome, const pqxx::row& row)
    {
        const auto& requested = requested_[decided.index];
        auto& settled = results_[decided.index];
        if (outcome == "created")
            settled = make_created(requested, decided.event, row);
        else if (outcome == "existing")
            existing_.push_back(decided.index);
        else if (outcome == "refused")
            settled = decided.refusal.value();
        else if (outcome == "no_domain")
            settled = domain_not_available(requested.domain);
        else if (outcome == "limit")
            settled = all_slots_used(accounts_.at(requested.account.account), now_);
        else if (requested.local_part)
            settled = address_not_available(row[1].as<std::string>());
        else
            settled = address_not_available(
                "with a random name" + row[1].as<std::string>().substr(decided.local_part.size()));
    }

    pqxx::result create(const std::vector<candidate>& open)
    {
        postgres::binary_array rows(postgres::composite_oid(tx_, "mailbox.new_inbox"));
        for (const auto& one : open) {
            const auto& requested = requested_[one.index];
            const auto& limits = accounts_.at(requested.account.account).limits_at(now_);
            const bool is_reserved_name =
                requested.local_part && is_reserved(*requested.local_part);
            rows.add_row(requested.account.account, requested.id, one.refusal.has_value(),
                         one.local_part, requested.domain, is_reserved_name,
                         static_cast<std::int64_t>(one.ttl.count()),
                         static_cast<std::int64_t>(limits.live_inboxes), requested.name,
                         requested.tags, to_json(requested.metadata), one.event);
        }
        return tx_.exec_prepared(create_all.name, rows.parameter());
    }

    void read_existing()
    {
        if (existing_.empty())
            return;
        std::vector<std::pair<account_id, inbox_id>> names;
        names.reserve(existing_.size());
        for (const auto index : existing_)
            names.emplace_back(requested_[index].account.account, requested_[index].id);
        const auto [accounts, ids] = postgres::to_arrays(names);
        std::map<std::pair<account_id, inbox_id>, inbox> found;
        for (const auto& row : tx_.exec_prepared(find_existing.name, accounts, ids)) {
            auto read = read_inbox(row);
            found.emplace(std::pair(read.account, read.id), std::move(read));
        }
        for (std::size_t i = 0; i < names.size(); ++i)
            results_[existing_[i]] = created_inbox{found.at(names[i]), {}};
    }

    pqxx::work& tx_;
    const std::vector<new_inbox>& requested_;
    time_point now_;
    states accounts_;
    std::vector<result<created_inbox>> results_;
    std::vector<std::size_t> existing_;
};

} // namespace

std::vector<postgres::statement> creation_statements()
{
    return {lock_accounts,      create_all,        find_existing,        choose_domain,
            take_operator_slot, find_live_address, insert_operator_inbox};
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
    for (const auto& one : results)
        if (one)
            events.insert(events.end(), one->events.begin(), one->events.end());
    outbox::insert(tx, schema, outbox_owner, events);
    return results;
}

result<void> check_new_inbox(pqxx::work& tx, const new_inbox& requested, time_point now)
{
    if (const auto ttl = choose_ttl(requested.account.limits_at(now), requested.ttl); !ttl)
        return ttl.error();
    const char* const domain = or_null(requested.domain);
    if (tx.exec_prepared(choose_domain.name, domain).empty())
        return domain_not_available(requested.domain);
    return {};
}

result<std::vector<created_inbox>> create_operator_inboxes(pqxx::work& tx, account_id account,
                                                           const std::string& domain,
                                                           const std::string& outbox_owner)
{
    tx.exec_prepared(lock_accounts.name, postgres::to_array(std::vector{account}));
    if (const auto known = plans::find(tx, schema, account); known && known->is_deleted)
        return failure{errc::permission_denied, "The account was deleted"};
    tx.exec_params(lock_operator_names, domain);
    std::vector<created_inbox> all;
    for (const char* local_part : {"postmaster", "abuse"}) {
        const auto address = std::string(local_part) + "@" + domain;
        const auto there = tx.exec_prepared(find_live_address.name, address);
        if (!there.empty() && account_id::parse(there[0][0].c_str()).value() != account)
            return address_not_available(address);
        if (!there.empty())
            continue;
        tx.exec_prepared(take_operator_slot.name, account.text());
        const auto event = event_id::make();
        const auto rows = tx.exec_prepared(insert_operator_inbox.name, account.text(),
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
