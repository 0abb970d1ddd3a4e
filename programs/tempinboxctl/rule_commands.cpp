#include "tempinboxctl/command.hpp"

#include "common/rpc/webhook_methods.hpp"
#include "tempinboxctl/condition_text.hpp"
#include "tempinboxctl/session.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::ctl {
namespace {

using namespace webhooks::v1;

// Fields as in the API; the id is called `id` there.
record to_record(const Rule& shown)
{
    std::vector<record> conditions;
    for (const auto& condition : shown.conditions())
        conditions.emplace_back()
            .add("field", condition.field())
            .add("operator", condition.operator_())
            .add("value", condition.value());
    record fields;
    fields.add("id", shown.rule_id())
        .add("name", shown.name())
        .add("webhookId", shown.webhook_id());
    fields.add("conditions", std::move(conditions)).add("isEnabled", shown.is_enabled());
    fields.add_time("createdAt", from_unix_micros(shown.created_at().seconds() * 1'000'000 +
                                                  shown.created_at().nanos() / 1'000));
    return fields;
}

result<CreateRuleRequest> read_rule(const arguments& given, const accounts::account& account)
{
    const auto webhook = webhook_id::parse(*given.value("webhook"));
    if (!webhook)
        return webhook.error();
    CreateRuleRequest request;
    *request.mutable_account() = plans::to_proto(account.state);
    request.set_rule_id(rule_id::make().text());
    request.set_name(*given.value("name"));
    request.set_webhook_id(webhook->text());
    request.set_is_enabled(!given.has("disabled"));
    for (const auto& text : given.values("when")) {
        const auto condition = parse_condition(text);
        if (!condition)
            return condition.error();
        auto& added = *request.add_conditions();
        added.set_field(std::string(rules::to_string(condition->what)));
        added.set_operator_(std::string(rules::to_string(condition->how)));
        added.set_value(condition->value);
    }
    return request;
}

awaitable<result<command_result>> create(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    const auto request = read_rule(given, *account);
    if (!request)
        co_return request.error();
    const auto created =
        co_await suite.webhook_dispatcher().call(webhook_methods::create_rule, *request);
    if (!created)
        co_return created.error();
    co_return command_result(to_record(created->rule()));
}

awaitable<result<command_result>> list(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    ListRulesRequest request;
    request.set_account_id(account->id().text());
    const auto found =
        co_await suite.webhook_dispatcher().call(webhook_methods::list_rules, request);
    if (!found)
        co_return found.error();
    std::vector<record> all;
    for (const auto& rule : found->rules())
        all.push_back(to_record(rule));
    co_return command_result("rules", std::move(all));
}

awaitable<result<command_result>> remove(session& suite, arguments given)
{
    const auto rule = rule_id::parse(given.at("RULE"));
    if (!rule)
        co_return rule.error();
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    DeleteRuleRequest request;
    request.set_account_id(account->id().text());
    request.set_rule_id(rule->text());
    const auto removed =
        co_await suite.webhook_dispatcher().call(webhook_methods::delete_rule, request);
    if (!removed)
        co_return removed.error();
    record fields;
    fields.add("id", rule->text()).add("deleted", true);
    co_return command_result(std::move(fields));
}

} // namespace

std::vector<command> rule_commands()
{
    const positional account("ACCOUNT", "id or email address of the account");
    std::vector<command> commands;

    auto& creating = commands.emplace_back(
        "rule create", "Creates a routing rule; without --when it matches all mail");
    creating.positionals.push_back(account);
    creating.options.emplace_back("name", "N", "name of the rule, 1 to 100 characters",
                                  option::kind::required);
    creating.options.emplace_back("webhook", "WEBHOOK",
                                  "webhookId of the endpoint that gets matching mail",
                                  option::kind::required);
    creating.options.emplace_back("when", "CONDITION",
                                  "FIELD OPERATOR VALUE: subject, from or to; contains, equals, "
                                  "starts_with or ends_with; all must match",
                                  option::kind::repeated);
    creating.options.emplace_back("disabled", "", "creates the rule without putting it in force",
                                  option::kind::flag);
    creating.run = create;

    auto& listing = commands.emplace_back("rule list", "Lists an account's routing rules");
    listing.positionals.push_back(account);
    listing.run = list;

    auto& deleting = commands.emplace_back("rule delete", "Deletes a routing rule");
    deleting.positionals.push_back(account);
    deleting.positionals.emplace_back("RULE", "id of the rule");
    deleting.run = remove;
    return commands;
}

} // namespace tempinbox::ctl
