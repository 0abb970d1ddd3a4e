#include "webhook-dispatcher/api/rule_requests.hpp"

#include "webhook-dispatcher/api/requests.hpp"

#include "common/core/text.hpp"
#include "common/rpc/timestamp.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr std::size_t max_name_length = 100;
constexpr std::size_t max_value_length = 500;
constexpr int max_conditions = 5;
constexpr int max_drafts = 20;
// Of an email to test: more than mail servers accept.
constexpr std::size_t max_field_bytes = 10'000;
constexpr int max_recipients = 100;

using condition_messages = google::protobuf::RepeatedPtrField<v1::Condition>;

failure invalid(std::string text)
{
    return failure{errc::invalid_argument, std::move(text)};
}

failure inside(std::string_view path, const failure& reason)
{
    return failure{reason.code, std::string(path) + reason.message};
}

result<std::vector<rules::condition>> read_conditions(const condition_messages& messages)
{
    if (messages.size() > max_conditions)
        return invalid("conditions must have 0 to " + std::to_string(max_conditions) +
                       " items, not " + std::to_string(messages.size()));
    std::vector<rules::condition> conditions;
    for (const auto& given : messages) {
        const auto path = "conditions[" + std::to_string(conditions.size()) + "].";
        const auto what = rules::parse_field(given.field());
        if (!what)
            return inside(path, what.error());
        const auto how = rules::parse_comparison(given.operator_());
        if (!how)
            return inside(path, how.error());
        if (const auto checked = check_text(path + "value", given.value(), 1, max_value_length);
            !checked)
            return checked.error();
        rules::condition read;
        read.what = *what;
        read.how = *how;
        read.value = given.value();
        conditions.push_back(std::move(read));
    }
    return conditions;
}

// An incomplete rule: it needs no id, name or webhook.
result<rules::rule> read_draft(const v1::Rule& given)
{
    rules::rule draft;
    if (!given.rule_id().empty()) {
        const auto id = rule_id::parse(given.rule_id());
        if (!id)
            return id.error();
        draft.id = *id;
    }
    if (!given.webhook_id().empty()) {
        const auto webhook = webhook_id::parse(given.webhook_id());
        if (!webhook)
            return webhook.error();
        draft.webhook = *webhook;
    }
    if (const auto checked = check_text("name", given.name(), 0, max_name_length); !checked)
        return checked.error();
    auto conditions = read_conditions(given.conditions());
    if (!conditions)
        return conditions.error();
    draft.name = given.name();
    draft.conditions = std::move(*conditions);
    draft.is_enabled = given.is_enabled();
    return draft;
}

result<rules::tested_mail> read_mail(const v1::TestRulesRequest& request)
{
    if (request.to_size() > max_recipients)
        return invalid("to must have at most " + std::to_string(max_recipients) + " items, not " +
                       std::to_string(request.to_size()));
    if (request.from().size() > max_field_bytes || request.subject().size() > max_field_bytes)
        return invalid("from and subject must have at most " + std::to_string(max_field_bytes) +
                       " bytes");
    for (const auto& recipient : request.to())
        if (recipient.size() > max_field_bytes)
            return invalid("to must hold at most " + std::to_string(max_field_bytes) +
                           " bytes an item");
    rules::tested_mail mail;
    mail.from = request.from();
    mail.to.assign(request.to().begin(), request.to().end());
    mail.subject = request.subject();
    return mail;
}

void write(v1::Condition& message, const rules::condition& entry)
{
    message.set_field(std::string(rules::to_string(entry.what)));
    message.set_operator_(std::string(rules::to_string(entry.how)));
    message.set_value(entry.value);
}

} // namespace

result<rule_params> read_params(const v1::CreateRuleRequest& request)
{
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    const auto id = rule_id::parse(request.rule_id());
    if (!id)
        return id.error();
    if (const auto checked = check_text("name", request.name(), 1, max_name_length); !checked)
        return checked.error();
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        return webhook.error();
    auto conditions = read_conditions(request.conditions());
    if (!conditions)
        return conditions.error();

    rule_params params;
    params.account = std::move(*account);
    params.requested.id = *id;
    params.requested.name = request.name();
    params.requested.webhook = *webhook;
    params.requested.conditions = std::move(*conditions);
    params.requested.is_enabled = request.is_enabled();
    return params;
}

result<rule_change_params> read_change(const v1::UpdateRuleRequest& request)
{
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    const auto id = rule_id::parse(request.rule_id());
    if (!id)
        return id.error();
    rule_change_params params;
    if (request.has_name()) {
        if (const auto checked = check_text("name", request.name(), 1, max_name_length); !checked)
            return checked.error();
        params.change.name = request.name();
    }
    if (request.has_webhook_id()) {
        const auto webhook = webhook_id::parse(request.webhook_id());
        if (!webhook)
            return webhook.error();
        params.change.webhook = *webhook;
    }
    if (request.has_conditions()) {
        auto conditions = read_conditions(request.conditions().conditions());
        if (!conditions)
            return conditions.error();
        params.change.conditions = std::move(*conditions);
    }
    if (request.has_is_enabled())
        params.change.is_enabled = request.is_enabled();
    params.account = std::move(*account);
    params.id = *id;
    return params;
}

result<test_params> read_test(const v1::TestRulesRequest& request)
{
    auto account = plans::from_proto(request.account());
    if (!account)
        return account.error();
    auto mail = read_mail(request);
    if (!mail)
        return mail.error();
    test_params params;
    params.account = std::move(*account);
    params.mail = std::move(*mail);
    if (!request.has_rules())
        return params;
    if (request.rules().rules_size() > max_drafts)
        return invalid("rules must have at most " + std::to_string(max_drafts) + " items, not " +
                       std::to_string(request.rules().rules_size()));
    params.drafts.emplace();
    for (const auto& given : request.rules().rules()) {
        auto draft = read_draft(given);
        if (!draft)
            return inside("rules[" + std::to_string(params.drafts->size()) + "].", draft.error());
        params.drafts->push_back(std::move(*draft));
    }
    return params;
}

v1::Rule to_message(const stored_rule& stored)
{
    v1::Rule message;
    message.set_rule_id(stored.rule.id.text());
    message.set_name(stored.rule.name);
    message.set_webhook_id(stored.rule.webhook.text());
    for (const auto& entry : stored.rule.conditions)
        write(*message.add_conditions(), entry);
    message.set_is_enabled(stored.rule.is_enabled);
    *message.mutable_created_at() = rpc::to_timestamp(stored.created_at);
    return message;
}

v1::TestedRule to_message(const rules::rule& rule, const rules::explanation& found)
{
    v1::TestedRule message;
    if (!rule.id.value().is_nil())
        message.set_rule_id(rule.id.text());
    message.set_name(rule.name);
    message.set_is_enabled(rule.is_enabled);
    message.set_matched(found.matched);
    for (std::size_t i = 0; i < rule.conditions.size(); ++i) {
        auto& condition = *message.add_conditions();
        write(*condition.mutable_condition(), rule.conditions[i]);
        condition.set_actual(found.conditions[i].actual);
        condition.set_matched(found.conditions[i].matched);
    }
    return message;
}

} // namespace tempinbox::webhooks
