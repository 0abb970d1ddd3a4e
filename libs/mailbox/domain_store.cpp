#include "mailbox/domain_store.hpp"

#include "mailbox/columns.hpp"

namespace tempinbox::mailbox {
namespace {

constexpr postgres::statement list_domains{"mailbox_list_domains", R"(
    SELECT domain, is_default, operator_account_id FROM mailbox.domains ORDER BY is_default DESC, domain)"};

// Serializes additions, so that exactly one domain becomes the default.
constexpr const char* lock_domains = "LOCK TABLE mailbox.domains IN SHARE ROW EXCLUSIVE MODE";

constexpr postgres::statement add_domain{"mailbox_add_domain", R"(
    INSERT INTO mailbox.domains AS d (domain, is_default, operator_account_id)
    VALUES ($1, NOT EXISTS (SELECT 1 FROM mailbox.domains WHERE is_default), $2)
    ON CONFLICT (domain) DO UPDATE SET operator_account_id = coalesce(excluded.operator_account_id, d.operator_account_id)
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

} // namespace

domain_store::domain_store(postgres::pool& db) : db_(db)
{
    db_.prepare(list_domains);
    db_.prepare(add_domain);
}

awaitable<std::vector<domain>> domain_store::list()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<domain> domains;
        for (const auto& row : tx.exec_prepared(list_domains.name))
            domains.push_back(read_domain(row));
        return domains;
    });
}

awaitable<domain> domain_store::add(std::string name, std::optional<account_id> operator_account)
{
    return db_.transact([name = std::move(name), operator_account](pqxx::work& tx) {
        const auto owner =
            operator_account ? std::optional<std::string>{operator_account->text()} : std::nullopt;
        tx.exec0(lock_domains);
        return read_domain(tx.exec_prepared1(add_domain.name, name, or_null(owner)));
    });
}

} // namespace tempinbox::mailbox
