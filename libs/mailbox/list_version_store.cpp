#include "mailbox/list_version_store.hpp"

#include "common/postgres/autocommit.hpp"
#include "common/postgres/binary_array.hpp"

namespace tempinbox::mailbox {
namespace {

// Looks up each inbox by its key: a join may keep a plan made for few inboxes that reads all.
const std::string find_versions_sql =
    "SELECT (SELECT " + std::string(version_column) + R"( FROM mailbox.inboxes AS i
        WHERE i.account_id = asked.account_id AND i.inbox_id = asked.inbox_id AND i.is_live AND i.expires_at > now())
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked (account_id, inbox_id, place) ORDER BY place)";
const postgres::statement find_versions{"mailbox_find_list_versions", find_versions_sql.c_str()};

} // namespace

list_version_store::list_version_store(postgres::pool& db) : db_(db)
{
    db_.prepare(find_versions);
}

awaitable<std::vector<std::string>>
list_version_store::find(std::vector<std::pair<account_id, inbox_id>> inboxes)
{
    return postgres::run_autocommit<std::vector<std::string>>(
        db_, [inboxes = std::move(inboxes)](pqxx::nontransaction& tx) {
            const auto [accounts, ids] = postgres::to_arrays(inboxes);
            std::vector<std::string> versions;
            versions.reserve(inboxes.size());
            for (const auto& row : tx.exec_prepared(find_versions.name, accounts, ids))
                versions.emplace_back(row[0].c_str()); // empty for NULL
            return versions;
        });
}

} // namespace tempinbox::mailbox
