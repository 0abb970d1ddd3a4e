#include "webhook-dispatcher/history/routing_log_store.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr postgres::statement find_routing{"routing_find", R"(
SELECT said.rule_id, said.matched
FROM (SELECT rule_ids, matched FROM webhooks.routings WHERE event_id = $2::uuid AND account_id = $1::uuid) AS stored,
     unnest(stored.rule_ids, stored.matched) WITH ORDINALITY AS said(rule_id, matched, place)
ORDER BY said.place)"};

} // namespace

routing_log_store::routing_log_store(postgres::pool& db) : db_(db)
{
    db_.prepare(find_routing);
}

awaitable<std::optional<std::vector<rule_match>>> routing_log_store::find(account_id account,
                                                                          event_id email)
{
    return db_.transact([account, email](pqxx::work& tx) -> std::optional<std::vector<rule_match>> {
        std::vector<rule_match> rules;
        for (const auto& row : tx.exec_prepared(find_routing.name, account.text(), email.text()))
            rules.push_back({rule_id::parse(row[0].as<std::string>()).value(), row[1].as<bool>()});
        if (rules.empty())
            return std::nullopt;
        return rules;
    });
}

} // namespace tempinbox::webhooks
