#include "webhook-dispatcher/api/rule_rpc.hpp"

#include "common/rpc/webhook_methods.hpp"
#include "webhook-dispatcher/api/rule_requests.hpp"
#include "webhook-dispatcher/routing/account_config.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

// An endpoint as routing sees it: nothing is signed.
receiver to_receiver(const endpoint& stored)
{
    receiver target;
    target.account = stored.account;
    target.id = stored.id;
    target.url = stored.url;
    target.events = stored.events;
    target.is_enabled = stored.is_enabled;
    return target;
}

result<void> check_webhooks(const std::vector<rules::rule>& drafts,
                            const std::vector<endpoint>& endpoints)
{
    for (const auto& draft : drafts) {
        const bool is_known =
            draft.webhook.value().is_nil() ||
            std::any_of(endpoints.begin(), endpoints.end(),
                        [&](const endpoint& known) { return known.id == draft.webhook; });
        if (!is_known)
            return no_such_webhook(draft.webhook);
    }
    return {};
}

v1::TestRulesResponse to_response(const stored_config& stored, const rules::tested_mail& mail,
                                  time_point now)
{
    v1::TestRulesResponse response;
    const rules::rule_input folded(mail.from, mail.to, mail.subject);
    for (const auto& rule : stored.rules)
        *response.add_rules() = to_message(rule, rules::explain(rule, mail, folded));
    std::vector<receiver> receivers;
    receivers.reserve(stored.endpoints.size());
    for (const auto& known : stored.endpoints)
        receivers.push_back(to_receiver(known));
    const account_config config(stored.version, stored.state, std::move(receivers), stored.rules);
    for (const auto& chosen : config.choose_routes(event_kind::email_received, &folded, now))
        if (!chosen.is_skipped)
            response.add_webhook_ids(chosen.to->id.text());
    return response;
}

} // namespace

void rule_rpc::add_to(rpc::server& server)
{
    server.add(webhook_methods::create_rule, *this, &rule_rpc::create);
    server.add(webhook_methods::get_rule, *this, &rule_rpc::get);
    server.add(webhook_methods::list_rules, *this, &rule_rpc::list);
    server.add(webhook_methods::update_rule, *this, &rule_rpc::update);
    server.add(webhook_methods::test_rules, *this, &rule_rpc::test);
    server.add(webhook_methods::delete_rule, *this, &rule_rpc::remove);
}

awaitable<result<v1::CreateRuleResponse>> rule_rpc::create(v1::CreateRuleRequest request)
{
    auto params = read_params(request);
    if (!params)
        co_return params.error();
    const auto stored =
        co_await rules_.create(std::move(params->account), std::move(params->requested));
    if (!stored)
        co_return stored.error();
    v1::CreateRuleResponse response;
    *response.mutable_rule() = to_message(*stored);
    co_return response;
}

awaitable<result<v1::GetRuleResponse>> rule_rpc::get(v1::GetRuleRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto id = rule_id::parse(request.rule_id());
    if (!id)
        co_return id.error();
    const auto found = co_await rules_.find(*account, *id);
    if (!found)
        co_return found.error();
    v1::GetRuleResponse response;
    *response.mutable_rule() = to_message(*found);
    co_return response;
}

awaitable<result<v1::UpdateRuleResponse>> rule_rpc::update(v1::UpdateRuleRequest request)
{
    auto params = read_change(request);
    if (!params)
        co_return params.error();
    const auto changed =
        co_await rules_.update(std::move(params->account), params->id, std::move(params->change));
    if (!changed)
        co_return changed.error();
    v1::UpdateRuleResponse response;
    *response.mutable_rule() = to_message(*changed);
    co_return response;
}

awaitable<result<v1::ListRulesResponse>> rule_rpc::list(v1::ListRulesRequest request)
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

awaitable<result<v1::DeleteRuleResponse>> rule_rpc::remove(v1::DeleteRuleRequest request)
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

awaitable<result<v1::TestRulesResponse>> rule_rpc::test(v1::TestRulesRequest request)
{
    auto params = read_test(request);
    if (!params)
        co_return params.error();
    const std::vector<account_id> accounts(1, params->account.account);
    auto found = co_await rules_.load_configs(accounts);
    stored_config stored;
    if (!found.empty())
        stored = std::move(found.front());
    for (auto& known : stored.endpoints)
        known = apply_url_policy(std::move(known), policy_);
    if (!stored.state || stored.state->version < params->account.version)
        stored.state = params->account;
    const auto now = system_clock_source{}.now();
    if (stored.state->limits_at(now).routing_rules <= 0)
        co_return no_rules_on(*stored.state, now);
    if (params->drafts) {
        const auto known = check_webhooks(*params->drafts, stored.endpoints);
        if (!known)
            co_return known.error();
        stored.rules = std::move(*params->drafts);
    }
    co_return to_response(stored, params->mail, now);
}

} // namespace tempinbox::webhooks
