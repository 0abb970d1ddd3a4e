#pragma once

#include "webhook-dispatcher/storage/rule_repository.hpp"

#include "common/rules/explanation.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <vector>

namespace tempinbox::webhooks {

// Validated requests about rules.
struct rule_params
{
    plans::account_state account;
    rules::rule requested;
};
result<rule_params> read_params(const v1::CreateRuleRequest& request);

struct rule_change_params
{
    plans::account_state account;
    rule_id id;
    rule_change change;
};
result<rule_change_params> read_change(const v1::UpdateRuleRequest& request);

struct test_params
{
    plans::account_state account;
    rules::tested_mail mail;
    std::optional<std::vector<rules::rule>> drafts; // in place of the stored rules
};
result<test_params> read_test(const v1::TestRulesRequest& request);

v1::Rule to_message(const stored_rule& stored);
v1::TestedRule to_message(const rules::rule& rule, const rules::explanation& found);

} // namespace tempinbox::webhooks
