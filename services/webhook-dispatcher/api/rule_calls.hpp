#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/routing/rule_store.hpp"

#include "common/rpc/server.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::webhooks {

// The calls about routing rules.
class rule_calls
{
public:
    explicit rule_calls(rule_store& rules) : rules_(rules) {}

    void add_to(rpc::server& server);

    awaitable<result<v1::CreateRuleResponse>> create(v1::CreateRuleRequest request);
    awaitable<result<v1::ListRulesResponse>> list(v1::ListRulesRequest request);
    awaitable<result<v1::DeleteRuleResponse>> remove(v1::DeleteRuleRequest request);

private:
    rule_store& rules_;
};

} // namespace tempinbox::webhooks
