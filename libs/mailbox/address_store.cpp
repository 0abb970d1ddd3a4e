#include "mailbox/address_store.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/parameters.hpp"

#include "tempinbox/accounts/v1/account_state.pb.h"

#include <map>

namespace tempinbox::mailbox {
namespace {

constexpr postgres::statement find_addresses{"mailbox_find_addresses", R"(
    SELECT address, account_id, inbox_id, state = 'live' AND until > clock_timestamp(), mailbox.to_micros(until)
    FROM mailbox.addresses WHERE address = ANY($1::text[]))"};

// Addresses have no join with accounts, so that accounts can be moved apart; the account's state is
// read by its id.
constexpr postgres::statement find_owners{"mailbox_find_owners", R"(
    SELECT g.place, i.email_count, i.email_bytes, s.state
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS g(account_id, inbox_id, place)
    LEFT JOIN mailbox.inboxes AS i ON i.account_id = g.account_id AND i.inbox_id = g.inbox_id
    LEFT JOIN mailbox.account_state AS s ON s.account_id = g.account_id)"};

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

address_store::address_store(postgres::pool& db) : db_(db)
{
    db_.prepare(find_addresses);
    db_.prepare(find_owners);
}

awaitable<std::vector<known_address>> address_store::find(std::vector<std::string> addresses)
{
    auto requested = std::make_shared<const std::vector<std::string>>(std::move(addresses));
    auto found = std::make_shared<std::vector<known_address>>();
    co_await run_statements(requested, found);
    co_return std::move(*found);
}

awaitable<void>
address_store::run_statements(std::shared_ptr<const std::vector<std::string>> addresses,
                              std::shared_ptr<std::vector<known_address>> found)
{
    return db_.run([addresses, found](pqxx::connection_base& connection) {
        pqxx::nontransaction tx(connection);
        for (const auto& row :
             tx.exec_prepared(find_addresses.name, postgres::to_array(*addresses))) {
            known_address one;
            one.address = row[0].as<std::string>();
            one.account = account_id::parse(row[1].c_str()).value();
            one.inbox = inbox_id::parse(row[2].c_str()).value();
            one.is_live = row[3].as<bool>();
            one.until = from_unix_micros(row[4].as<std::int64_t>());
            found->push_back(std::move(one));
        }
        read_owners(tx, *found);
    });
}

} // namespace tempinbox::mailbox
