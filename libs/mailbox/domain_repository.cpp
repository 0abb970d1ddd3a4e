#include "mailbox/domain_repository.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "mailbox/columns.hpp"

#include "tempinbox/accounts/v1/account_state.pb.h"

#include <stdexcept>

namespace tempinbox::mailbox {
namespace {

constexpr postgres::statement list_domains{"mailbox_list_domains", R"(
    SELECT domain, is_default, operator_account_id FROM mailbox.domains
    ORDER BY is_default DESC, domain)"};

// Serializes additions, so that exactly one domain becomes the default.
constexpr const char* lock_domains = "LOCK TABLE mailbox.domains IN SHARE ROW EXCLUSIVE MODE";

constexpr postgres::statement add_domain{"mailbox_add_domain", R"(
    INSERT INTO mailbox.domains AS d (domain, is_default, operator_account_id)
    VALUES ($1, NOT EXISTS (SELECT 1 FROM mailbox.domains WHERE is_default), $2)
    ON CONFLICT (domain) DO UPDATE
        SET operator_account_id = coalesce(excluded.operator_account_id, d.operator_account_id)
    RETURNING domain, is_default, operator_account_id)"};

domain read_domain(const pqxx::row& row)
{
    domain found;
    found.name = row[0].as<std::string>();
    found.is_default = row[1].as<bool>();
    if (!row[2].is_null())
        found.operator_account = account_id::parse(row[2].c_str()).value();
    return found;
}

constexpr postgres::statement find_by_address{"mailbox_find_addresses", R"(
    SELECT address, account_id, inbox_id, state = 'live' AND until > clock_timestamp(),
           mailbox.to_micros(until)
    FROM mailbox.addresses WHERE address = ANY($1::text[]))"};

// Addresses have no join with accounts, so that accounts can be moved apart; the account's state is
// read by its id.
constexpr postgres::statement find_owners{"mailbox_find_owners", R"(
    SELECT g.ordinal, i.email_count, i.email_bytes, s.state
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS g(account_id, inbox_id, ordinal)
    LEFT JOIN mailbox.inboxes AS i ON i.account_id = g.account_id AND i.inbox_id = g.inbox_id
    LEFT JOIN mailbox.account_states AS s ON s.account_id = g.account_id)"};

void read_owners(pqxx::nontransaction& tx, std::vector<known_address>& found)
{
    std::vector<account_id> accounts;
    std::vector<inbox_id> inboxes;
    std::vector<known_address*> live;
    for (auto& one : found) {
        if (!one.is_live)
            continue;
        accounts.push_back(one.account);
        inboxes.push_back(one.inbox);
        live.push_back(&one);
    }
    if (live.empty())
        return;
    for (const auto& row : tx.exec_prepared(find_owners.name, postgres::to_array(accounts),
                                            postgres::to_array(inboxes))) {
        auto& one = *live.at(row[0].as<std::size_t>() - 1);
        one.email_count = row[1].as<std::int64_t>(0);
        one.email_bytes = row[2].as<std::int64_t>(0);
        if (row[3].is_null())
            continue;
        accounts::v1::AccountState message;
        if (!message.ParseFromString(postgres::bytes_of(row[3])))
            throw std::runtime_error("state of account " + one.account.text() + " cannot be read");
        one.owner = plans::from_proto(message).value();
    }
}

} // namespace

domain_repository::domain_repository(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {list_domains, add_domain, find_by_address, find_owners})
        db_.prepare(statement);
}

awaitable<std::vector<domain>> domain_repository::list()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<domain> domains;
        for (const auto& row : tx.exec_prepared(list_domains.name))
            domains.push_back(read_domain(row));
        return domains;
    });
}

awaitable<domain> domain_repository::add(std::string name,
                                         std::optional<account_id> operator_account)
{
    return db_.transact([name = std::move(name), operator_account](pqxx::work& tx) {
        const auto owner =
            operator_account ? std::optional<std::string>{operator_account->text()} : std::nullopt;
        tx.exec0(lock_domains);
        return read_domain(tx.exec_prepared1(add_domain.name, name, or_null(owner)));
    });
}

awaitable<std::vector<known_address>>
domain_repository::find_addresses(std::vector<std::string> addresses)
{
    return postgres::run_autocommit<std::vector<known_address>>(
        db_, [addresses = std::move(addresses)](pqxx::nontransaction& tx) {
            std::vector<known_address> found;
            for (const auto& row :
                 tx.exec_prepared(find_by_address.name, postgres::to_array(addresses))) {
                known_address one;
                one.address = row[0].as<std::string>();
                one.account = account_id::parse(row[1].c_str()).value();
                one.inbox = inbox_id::parse(row[2].c_str()).value();
                one.is_live = row[3].as<bool>();
                one.until = from_unix_micros(row[4].as<std::int64_t>());
                found.push_back(std::move(one));
            }
            read_owners(tx, found);
            return found;
        });
}

} // namespace tempinbox::mailbox
