#pragma once

#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/rules/rules.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tempinbox::webhooks {

struct stored_rule
{
    rules::rule rule;
    time_point created_at;
};

// What a change sets; absent fields stay as they are.
struct rule_change
{
    std::optional<std::string> name;
    std::optional<webhook_id> webhook;
    std::optional<std::vector<rules::condition>> conditions;
    std::optional<bool> is_enabled;
};

// Whether a rule matched an email.
struct rule_match
{
    rule_id rule;
    bool matched = false;
    friend auto operator<=>(const rule_match&, const rule_match&) = default;
};

// The configuration versions that a decision was based on.
using config_versions = std::vector<std::pair<account_id, std::int64_t>>;

} // namespace tempinbox::webhooks
