#pragma once

#include "webhook-dispatcher/routing/rule_store.hpp"

#include "common/rules/explanation.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <vector>

namespace tempinbox::webhooks {

// Requests about rules, checked.
struct rule_wish
{
    plans::account_state account;
    rules::rule wanted;
};
result<rule_wish> read_wish(const v1::CreateRuleRequest& request);

struct rule_change_wish
{
    plans::account_state account;
    rule_id id;
    rule_change change;
};
result<rule_change_wish> read_change(const v1::UpdateRuleRequest& request);

struct test_wish
{
    plans::account_state account;
    rules::tested_mail mail;
    std::optional<std::vector<rules::rule>> drafts; // in place of the stored rules
};
result<test_wish> read_test(const v1::TestRulesRequest& request);

v1::Rule to_message(const stored_rule& stored);
v1::TestedRule to_message(const rules::rule& asked, const rules::explanation& found);

} // namespace tempinbox::webhooks
