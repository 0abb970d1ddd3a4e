#include "gateway/json/resources.hpp"

#include "gateway/json/fields.hpp"

namespace tempinbox::gateway {
namespace {

void put_condition_members(json::writer& out, const webhooks::v1::Condition& condition)
{
    out.member("field", condition.field());
    out.member("operator", condition.operator_());
    out.member("value", condition.value());
}

void put_condition(json::writer& out, const webhooks::v1::Condition& condition)
{
    out.begin_object();
    put_condition_members(out, condition);
    out.end_object();
}

void put_rule(json::writer& out, const webhooks::v1::Rule& rule)
{
    out.begin_object();
    out.member("id", rule.rule_id());
    out.member("name", rule.name());
    out.member("webhookId", rule.webhook_id());
    put_objects(out, "conditions", rule.conditions(), put_condition);
    out.member("isEnabled", rule.is_enabled());
    put_time(out, "createdAt", rule.has_created_at(), rule.created_at());
    out.end_object();
}

void put_tested_condition(json::writer& out, const webhooks::v1::TestedCondition& tested)
{
    out.begin_object();
    put_condition_members(out, tested.condition());
    out.member("actual", tested.actual());
    out.member("isMatch", tested.matched());
    out.end_object();
}

void put_tested_rule(json::writer& out, const webhooks::v1::TestedRule& tested)
{
    out.begin_object();
    put_text(out, "id", !tested.rule_id().empty(), tested.rule_id());
    out.member("name", tested.name());
    out.member("isEnabled", tested.is_enabled());
    out.member("isMatch", tested.matched());
    put_objects(out, "conditions", tested.conditions(), put_tested_condition);
    out.end_object();
}

} // namespace

std::string to_json(const webhooks::v1::Rule& rule)
{
    json::writer out;
    put_rule(out, rule);
    return out.take();
}

std::string to_json(const webhooks::v1::ListRulesResponse& list)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "rules", list.rules(), put_rule);
    out.end_object();
    return out.take();
}

std::string to_json(const webhooks::v1::TestRulesResponse& tested)
{
    json::writer out;
    out.begin_object();
    put_objects(out, "rules", tested.rules(), put_tested_rule);
    put_texts(out, "webhookIds", tested.webhook_ids());
    out.end_object();
    return out.take();
}

} // namespace tempinbox::gateway
