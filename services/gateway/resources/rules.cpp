#include "gateway/resources/rules.hpp"

#include "gateway/json/resources.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/resources/path_ids.hpp"
#include "gateway/resources/rule_fields.hpp"

namespace tempinbox::gateway {
namespace {

constexpr const char* fields[] = {"name", "webhookId", "conditions", "isEnabled"};

result<webhooks::v1::CreateRuleRequest> read_new_rule(const http::request& received,
                                                      const caller& who)
{
    auto body = read_body(received);
    if (!body)
        return body.error();
    const auto name = body->required_text("name", 1, max_rule_name_length);
    const auto webhook = read_webhook_id(*body);
    if (!webhook)
        body->fail("webhookId is required: the webhook that gets matching mail");
    const auto conditions = read_conditions(*body);
    const auto is_enabled = body->boolean("isEnabled");
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();

    webhooks::v1::CreateRuleRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    request.set_rule_id(who.new_id<rule_id>().text());
    request.set_name(name);
    request.set_webhook_id(*webhook);
    if (conditions)
        request.mutable_conditions()->Assign(conditions->begin(), conditions->end());
    request.set_is_enabled(is_enabled.value_or(true));
    return request;
}

// RFC 7396, but no field of a rule can be removed. Conditions are cleared by an empty array, which
// makes a catch-all; null could do that by accident.
result<webhooks::v1::UpdateRuleRequest> read_change(const http::request& received,
                                                    const caller& who)
{
    const auto id = rule_id::parse(received.path_param("ruleId"));
    if (!id)
        return id.error();
    auto body = read_body(received);
    if (!body)
        return body.error();

    webhooks::v1::UpdateRuleRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    request.set_rule_id(id->text());
    for (const auto* field : fields)
        if (body->has_null(field))
            body->fail(std::string(field) + " cannot be removed, so it must not be null");
    if (const auto name = body->text("name", 1, max_rule_name_length))
        request.set_name(*name);
    if (const auto webhook = read_webhook_id(*body))
        request.set_webhook_id(*webhook);
    if (const auto conditions = read_conditions(*body))
        request.mutable_conditions()->mutable_conditions()->Assign(conditions->begin(),
                                                                   conditions->end());
    if (const auto is_enabled = body->boolean("isEnabled"))
        request.set_is_enabled(*is_enabled);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (std::none_of(std::begin(fields), std::end(fields),
                     [&](const char* field) { return body->has(field); }))
        return failure{errc::invalid_argument,
                       "body must have at least one of name, webhookId, conditions, isEnabled"};
    return request;
}

} // namespace

// POST /dashboard/api/rules
awaitable<http::response> create_rule(const http::request& received, const caller& who,
                                      webhook_client& webhooks)
{
    auto request = read_new_rule(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto created = co_await webhooks.call(webhook_methods::create_rule, std::move(*request));
    if (!created)
        co_return http::error_response(created.error());

    co_return http::created_json(to_json(created->rule()),
                                 who.location_of("rules", created->rule().rule_id()));
}

// GET /dashboard/api/rules
awaitable<http::response> list_rules(const http::request& received, const caller& who,
                                     webhook_client& webhooks)
{
    const auto query = expect_no_query(received);
    if (!query)
        co_return http::error_response(query.error());
    webhooks::v1::ListRulesRequest request;
    request.set_account_id(who.account().text());

    const auto found = co_await webhooks.call(webhook_methods::list_rules, request);
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(*found));
}

// GET /dashboard/api/rules/{ruleId}
awaitable<http::response> get_rule(const http::request& received, const caller& who,
                                   webhook_client& webhooks)
{
    auto request =
        without_query(received, read_rule_path<webhooks::v1::GetRuleRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto found = co_await webhooks.call(webhook_methods::get_rule, std::move(*request));
    if (!found)
        co_return http::error_response(found.error());

    co_return http::ok_json(to_json(found->rule()));
}

// PATCH /dashboard/api/rules/{ruleId}
awaitable<http::response> update_rule(const http::request& received, const caller& who,
                                      webhook_client& webhooks)
{
    auto request = read_change(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto changed = co_await webhooks.call(webhook_methods::update_rule, std::move(*request));
    if (!changed)
        co_return http::error_response(changed.error());

    co_return http::ok_json(to_json(changed->rule()));
}

// DELETE /dashboard/api/rules/{ruleId}
awaitable<http::response> delete_rule(const http::request& received, const caller& who,
                                      webhook_client& webhooks)
{
    const auto request =
        without_query(received, read_rule_path<webhooks::v1::DeleteRuleRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto deleted = co_await webhooks.call(webhook_methods::delete_rule, *request);
    if (!deleted)
        co_return http::error_response(deleted.error());

    co_return http::ok_json(deleted_json("id", request->rule_id()));
}

} // namespace tempinbox::gateway
