#include "webhook-dispatcher/api/rule_calls.hpp"

#include "webhook-dispatcher/api/requests.hpp"

namespace tempinbox::webhooks {

void rule_calls::add_to(rpc::server& server)
{
    const std::string service = "tempinbox.webhooks.v1.WebhookService/";
    server.add<v1::CreateRuleRequest, v1::CreateRuleResponse>(
        service + "CreateRule", [this](v1::CreateRuleRequest request) { return create(std::move(request)); });
    server.add<v1::ListRulesRequest, v1::ListRulesResponse>(
        service + "ListRules", [this](v1::ListRulesRequest request) { return list(std::move(request)); });
    server.add<v1::DeleteRuleRequest, v1::DeleteRuleResponse>(
        service + "DeleteRule", [this](v1::DeleteRuleRequest request) { return remove(std::move(request)); });
}

awaitable<result<v1::CreateRuleResponse>> rule_calls::create(v1::CreateRuleRequest request)
{
    auto wish = read_wish(request);
    if (!wish)
        co_return wish.error();
    const auto stored = co_await rules_.create(std::move(wish->account), std::move(wish->wanted));
    if (!stored)
        co_return stored.error();
    v1::CreateRuleResponse response;
    *response.mutable_rule() = to_message(*stored);
    co_return response;
}

awaitable<result<v1::ListRulesResponse>> rule_calls::list(v1::ListRulesRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto found = co_await rules_.list(*account);
    v1::ListRulesResponse response;
    for (const auto& stored : found)
        *response.add_rules() = to_message(stored);
    co_return response;
}

awaitable<result<v1::DeleteRuleResponse>> rule_calls::remove(v1::DeleteRuleRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto id = rule_id::parse(request.rule_id());
    if (!id)
        co_return id.error();
    const auto removed = co_await rules_.remove(*account, *id);
    if (!removed)
        co_return removed.error();
    co_return v1::DeleteRuleResponse();
}

} // namespace tempinbox::webhooks
