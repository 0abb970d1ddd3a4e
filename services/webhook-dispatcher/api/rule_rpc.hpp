#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/url_policy.hpp"
#include "webhook-dispatcher/storage/rule_repository.hpp"

#include "common/rpc/server.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs about routing rules. The tester routes by the same account_config as event_ingest.
class rule_rpc
{
public:
    rule_rpc(rule_repository& rules, url_policy policy) : rules_(rules), policy_(std::move(policy))
    {}

    void add_to(rpc::server& server);

    awaitable<result<v1::CreateRuleResponse>> create(v1::CreateRuleRequest request);
    awaitable<result<v1::GetRuleResponse>> get(v1::GetRuleRequest request);
    awaitable<result<v1::ListRulesResponse>> list(v1::ListRulesRequest request);
    awaitable<result<v1::UpdateRuleResponse>> update(v1::UpdateRuleRequest request);
    awaitable<result<v1::DeleteRuleResponse>> remove(v1::DeleteRuleRequest request);
    awaitable<result<v1::TestRulesResponse>> test(v1::TestRulesRequest request);

private:
    rule_repository& rules_;
    url_policy policy_;
};

} // namespace tempinbox::webhooks
