#include "mailbox/subdomain_creation.hpp"

#include "common/core/text.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/address_rules.hpp"

#include <cstdint>
#include <string_view>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr postgres::statement lock_counts{"mailbox_lock_live_inbox_counts", R"(
    SELECT account_id FROM mailbox.live_inbox_counts WHERE account_id = ANY ($1::uuid[])
    ORDER BY account_id FOR UPDATE)"};

// For rows that are not there yet: two batches may be about to insert them. DISTINCT keeps the
// order of the inner query.
constexpr postgres::statement lock_names{"mailbox_lock_subdomain_names", R"(
    SELECT pg_advisory_xact_lock(name.key)
    FROM (SELECT DISTINCT hashtext('mailbox.subdomain ' || domain)::bigint AS key
          FROM unnest($1::text[]) AS domain ORDER BY key) AS name)"};

constexpr postgres::statement lock_rows{"mailbox_lock_subdomains", R"(
    SELECT domain FROM mailbox.subdomains WHERE domain = ANY ($1::text[])
    ORDER BY domain FOR UPDATE)"};

constexpr postgres::statement choose_parent{"mailbox_choose_parent_domain", R"(
    SELECT domain FROM mailbox.domains WHERE takes_subdomains
    ORDER BY is_default DESC, domain LIMIT 1)"};

// $1 the subdomain, $2 the domain above it. A name that is a domain of ours is nobody's subdomain.
constexpr postgres::statement find_parent{"mailbox_find_parent_domain", R"(
    SELECT 1 FROM mailbox.domains WHERE domain = $2 AND takes_subdomains
        AND NOT EXISTS (SELECT 1 FROM mailbox.domains WHERE domain = $1))"};

constexpr postgres::statement count_others{"mailbox_count_other_subdomains", R"(
    SELECT count(*) AS count FROM mailbox.subdomains
    WHERE account_id = $1 AND domain <> $2 AND live_inboxes > 0)"};

// Returns no row if another account holds it, or held it and its quarantine is not over.
constexpr postgres::statement take{"mailbox_take_subdomain", R"(
    INSERT INTO mailbox.subdomains AS s (account_id, domain, live_inboxes, until)
    VALUES ($1, $2, 0, '-infinity')
    ON CONFLICT (domain) DO UPDATE SET account_id = excluded.account_id
        WHERE s.account_id = excluded.account_id OR (s.live_inboxes = 0 AND s.until <= now())
    RETURNING domain)"};

result<void> check_limit(const plans::account_state& account, std::int64_t others, time_point now)
{
    const auto plan = account.plan_at(now);
    const auto allowed = account.limits_at(now).catch_alls.value_or(0);
    if (others < allowed)
        return {};
    if (allowed == 0)
        return failure{errc::permission_denied, "Catch-alls are not part of the plan " + plan,
                       error_reason::plan_required};
    return failure{errc::permission_denied,
                   "The plan " + plan + " has " + std::to_string(allowed) +
                       (allowed == 1 ? " subdomain" : " subdomains") +
                       ", all in use; one is free again once all inboxes in it have ended",
                   error_reason::plan_required};
}

// A subdomain that nobody has, or that is asked for, below a domain that takes some.
result<std::string> choose_name(pqxx::work& tx, const std::optional<std::string>& requested)
{
    if (!requested) {
        const auto parents = postgres::exec_prepared(tx, choose_parent.name);
        if (parents.empty())
            return failure{errc::invalid_argument,
                           "localPart must not be *: no domain of this service takes subdomains"};
        return make_random_local_part() + "." + column<std::string>(parents[0], "domain");
    }
    const std::string parent(parent_domain(*requested));
    if (postgres::exec_prepared(tx, find_parent.name, *requested, parent).empty())
        return failure{errc::invalid_argument,
                       "domain must be a name below one that GET /v1/domains lists with "
                       "takesSubdomains for localPart *, or absent for a random one, not " +
                           quote(*requested)};
    return *requested;
}

} // namespace

std::vector<postgres::statement> subdomain_statements()
{
    return {lock_counts, lock_names, lock_rows, choose_parent, find_parent, count_others, take};
}

void lock_live_inbox_counts(pqxx::work& tx,
                            const std::map<account_id, plans::account_state>& accounts)
{
    std::vector<account_id> ids;
    ids.reserve(accounts.size());
    for (const auto& [id, state] : accounts)
        ids.push_back(id);
    postgres::exec_prepared(tx, lock_counts.name, postgres::to_array(ids));
}

void lock_subdomains(pqxx::work& tx, const std::vector<std::string>& of_catch_alls,
                     const std::vector<std::string>& of_named_inboxes)
{
    // In two statements: the second one has to see what others inserted before the first one ended.
    if (!of_catch_alls.empty())
        postgres::exec_prepared(tx, lock_names.name, postgres::to_array(of_catch_alls));
    auto all = of_catch_alls;
    all.insert(all.end(), of_named_inboxes.begin(), of_named_inboxes.end());
    if (!all.empty())
        postgres::exec_prepared(tx, lock_rows.name, postgres::to_array(all));
}

result<std::string> take_subdomain(pqxx::work& tx, const plans::account_state& account,
                                   const std::optional<std::string>& requested, time_point now)
{
    auto name = choose_name(tx, requested);
    if (!name)
        return name.error();
    const auto others =
        postgres::exec_prepared1(tx, count_others.name, account.account.text(), *name);
    if (const auto fits = check_limit(account, column<std::int64_t>(others, "count"), now); !fits)
        return fits.error();
    if (postgres::exec_prepared(tx, take.name, account.account.text(), *name).empty())
        return failure{errc::conflict, "The subdomain " + *name + " is not available",
                       error_reason::address_taken};
    return name;
}

result<void> check_subdomain(pqxx::work& tx, const std::optional<std::string>& requested)
{
    const auto name = choose_name(tx, requested);
    if (!name)
        return name.error();
    return {};
}

} // namespace tempinbox::mailbox
