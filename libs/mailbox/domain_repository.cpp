#include "mailbox/domain_repository.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "mailbox/columns.hpp"

#include "tempinbox/accounts/v1/account_state.pb.h"

#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

using postgres::column;

constexpr postgres::statement list_domains{"mailbox_list_domains", R"(
    SELECT domain, is_default, operator_account_id, takes_subdomains, has_subdomains
    FROM mailbox.domains ORDER BY is_default DESC, domain)"};

// Serializes additions, so that exactly one domain becomes the default.
constexpr const char* lock_domains = "LOCK TABLE mailbox.domains IN SHARE ROW EXCLUSIVE MODE";

constexpr postgres::statement add_domain{"mailbox_add_domain", R"(
    INSERT INTO mailbox.domains AS d (domain, is_default, operator_account_id)
    VALUES ($1, NOT EXISTS (SELECT 1 FROM mailbox.domains WHERE is_default), $2)
    ON CONFLICT (domain) DO UPDATE
        SET operator_account_id = coalesce(excluded.operator_account_id, d.operator_account_id)
    RETURNING domain, is_default, operator_account_id, takes_subdomains, has_subdomains)"};

constexpr postgres::statement find_holder{"mailbox_find_subdomain_holder", R"(
    SELECT 1 FROM mailbox.subdomains WHERE domain = $1 AND (live_inboxes > 0 OR until > now()))"};

constexpr postgres::statement set_taking{"mailbox_set_subdomains", R"(
    UPDATE mailbox.domains SET takes_subdomains = $2, has_subdomains = has_subdomains OR $2
    WHERE domain = $1
    RETURNING domain, is_default, operator_account_id, takes_subdomains, has_subdomains)"};

constexpr postgres::statement list_held_names{"mailbox_list_held_subdomains", R"(
    SELECT domain FROM mailbox.subdomains WHERE account_id = $1 AND live_inboxes > 0
    ORDER BY domain)"};

constexpr postgres::statement list_parents{"mailbox_list_parents_of_subdomains", R"(
    SELECT DISTINCT substr(domain, strpos(domain, '.') + 1) AS domain
    FROM mailbox.subdomains WHERE live_inboxes > 0 ORDER BY 1)"};

domain read_domain(const pqxx::row& row)
{
    domain read;
    read.name = column<std::string>(row, "domain");
    read.is_default = column<bool>(row, "is_default");
    read.operator_account = column<std::optional<account_id>>(row, "operator_account_id");
    read.takes_subdomains = column<bool>(row, "takes_subdomains");
    read.has_subdomains = column<bool>(row, "has_subdomains");
    return read;
}

constexpr postgres::statement find_by_address{"mailbox_find_addresses", R"(
    SELECT address, account_id, inbox_id,
           state = 'live' AND until > clock_timestamp() AS is_live,
           mailbox.to_micros(until) AS until_micros
    FROM mailbox.addresses WHERE address = ANY($1::text[]))"};

// Addresses have no join with accounts, so that accounts can be moved apart; the account's state is
// read by its id.
constexpr postgres::statement find_owners{"mailbox_find_owners", R"(
    SELECT g.ordinal, i.email_count, i.email_bytes, i.drops_oldest, s.state
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS g(account_id, inbox_id, ordinal)
    LEFT JOIN mailbox.inboxes AS i ON i.account_id = g.account_id AND i.inbox_id = g.inbox_id
    LEFT JOIN mailbox.account_states AS s ON s.account_id = g.account_id)"};

void read_owners(pqxx::nontransaction& tx, std::vector<known_address>& addresses)
{
    std::vector<account_id> accounts;
    std::vector<inbox_id> inboxes;
    std::vector<known_address*> live;
    for (auto& address : addresses) {
        if (!address.is_live)
            continue;
        accounts.push_back(address.account);
        inboxes.push_back(address.inbox);
        live.push_back(&address);
    }
    if (live.empty())
        return;
    for (const auto& row : postgres::exec_prepared(
             tx, find_owners.name, postgres::to_array(accounts), postgres::to_array(inboxes))) {
        auto& address = *live.at(column<std::size_t>(row, "ordinal") - 1);
        address.email_count = row["email_count"].as<std::int64_t>(0);
        address.email_bytes = row["email_bytes"].as<std::int64_t>(0);
        address.drops_oldest = row["drops_oldest"].as<bool>(false);
        if (row["state"].is_null())
            continue;
        accounts::v1::AccountState message;
        if (!message.ParseFromString(postgres::bytes_of(row["state"])))
            throw std::runtime_error("state of account " + address.account.text() +
                                     " cannot be read");
        address.owner = plans::from_proto(message).value();
    }
}

} // namespace

domain_repository::domain_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {list_domains, add_domain, find_holder, set_taking,
                                  list_held_names, list_parents, find_by_address, find_owners})
        db_.prepare(statement);
}

awaitable<std::vector<domain>> domain_repository::list()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<domain> domains;
        for (const auto& row : postgres::exec_prepared(tx, list_domains.name))
            domains.push_back(read_domain(row));
        return domains;
    });
}

awaitable<result<domain>> domain_repository::add(std::string name,
                                                 std::optional<account_id> operator_account)
{
    return db_.transact([name = std::move(name),
                         operator_account](pqxx::work& tx) -> result<domain> {
        const auto owner =
            operator_account ? std::optional<std::string>{operator_account->text()} : std::nullopt;
        tx.exec0(lock_domains);
        if (!postgres::exec_prepared(tx, find_holder.name, name).empty())
            return failure{errc::conflict, "An account holds " + name + " as a subdomain"};
        return read_domain(postgres::exec_prepared1(tx, add_domain.name, name, or_null(owner)));
    });
}

awaitable<result<domain>> domain_repository::set_subdomains(std::string name, bool takes_subdomains)
{
    return db_.transact(
        [name = std::move(name), takes_subdomains](pqxx::work& tx) -> result<domain> {
            const auto rows = postgres::exec_prepared(tx, set_taking.name, name, takes_subdomains);
            if (rows.empty())
                return failure{errc::not_found, "Domain " + name + " does not exist"};
            return read_domain(rows[0]);
        });
}

awaitable<std::vector<std::string>> domain_repository::list_held(account_id account)
{
    return postgres::run_autocommit<std::vector<std::string>>(db_, [account](
                                                                       pqxx::nontransaction& tx) {
        std::vector<std::string> names;
        for (const auto& row : postgres::exec_prepared(tx, list_held_names.name, account.text()))
            names.push_back(column<std::string>(row, "domain"));
        return names;
    });
}

awaitable<std::vector<std::string>> domain_repository::list_parents_of_held()
{
    return postgres::run_autocommit<std::vector<std::string>>(db_, [](pqxx::nontransaction& tx) {
        std::vector<std::string> names;
        for (const auto& row : postgres::exec_prepared(tx, list_parents.name))
            names.push_back(column<std::string>(row, "domain"));
        return names;
    });
}

awaitable<std::vector<known_address>>
domain_repository::find_addresses(std::vector<std::string> addresses)
{
    return postgres::run_autocommit<std::vector<known_address>>(
        db_, [addresses = std::move(addresses)](pqxx::nontransaction& tx) {
            std::vector<known_address> known;
            for (const auto& row :
                 postgres::exec_prepared(tx, find_by_address.name, postgres::to_array(addresses))) {
                known_address read;
                read.address = column<std::string>(row, "address");
                read.account = column<account_id>(row, "account_id");
                read.inbox = column<inbox_id>(row, "inbox_id");
                read.is_live = column<bool>(row, "is_live");
                read.until = column<time_point>(row, "until_micros");
                known.push_back(std::move(read));
            }
            read_owners(tx, known);
            return known;
        });
}

} // namespace tempinbox::mailbox
