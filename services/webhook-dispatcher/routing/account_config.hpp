#pragma once

#include "webhook-dispatcher/storage/endpoint.hpp"
#include "webhook-dispatcher/storage/rule.hpp"

#include "common/core/secret.hpp"
#include "common/plans/account_state.hpp"
#include "common/rules/rules.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::webhooks {

// A key that was replaced and still signs.
struct previous_key
{
    secret key;
    time_point valid_until;
};

// An endpoint as the sender needs it, with its secrets opened.
struct receiver
{
    account_id account;
    webhook_id id;
    std::string url;
    event_set events;
    bool is_enabled = true;
    std::optional<std::string>
        refusal;               // why the present policy refuses its URL; then it is not enabled
    std::optional<secret> key; // absent: no master key opens it
    std::vector<previous_key> previous_keys;
    time_point renewed_at; // of the endpoint

    // The keys that sign now: one, or more while a secret is rotated; the present one first.
    std::vector<secret> keys_at(time_point now) const;
};

// A webhook that an event goes to.
struct route
{
    std::shared_ptr<const receiver> to;
    std::vector<rule_id> rules; // that matched; empty if the subscription chose it
    bool is_skipped = false;    // switched off: kept as failed, nothing is sent
};

// One account's endpoints, rules, plan and feed at one config_version, compiled. Immutable, so that
// deliveries can share it.
class account_config
{
public:
    // Endpoints and rules oldest first. Without a known plan nothing is allowed.
    account_config(std::int64_t version, std::optional<plans::account_state> state,
                   std::vector<receiver> endpoints, std::vector<rules::rule> rules,
                   bool is_recorded = false);

    std::int64_t version() const { return version_; }
    // Whether the account's events go to its feed.
    bool is_recorded() const { return is_recorded_; }
    // Null if there is no such endpoint.
    std::shared_ptr<const receiver> find(webhook_id id) const;
    // Whether the plan's number of webhooks includes it: the oldest stay active when a plan
    // shrinks.
    bool is_active(webhook_id id, time_point now) const;

    // With an enabled rule, mail goes to the webhook of every matching rule; anything else goes to
    // every active endpoint that subscribed. `mail` is given for email.received. `matches` gets the
    // match of each rule if rules were evaluated.
    std::vector<route> choose_routes(event_kind kind, const rules::rule_input* mail, time_point now,
                                     std::vector<rule_match>* matches = nullptr) const;

private:
    std::size_t active_endpoints(time_point now) const;
    const rules::compiled_rules& rules_at(time_point now) const;
    std::vector<route> routes_by_rules(const rules::compiled_rules& compiled,
                                       const rules::rule_input& mail, time_point now,
                                       std::vector<rule_match>* matches) const;

    std::int64_t version_;
    std::optional<plans::account_state> state_;
    std::vector<std::shared_ptr<const receiver>> endpoints_;
    std::vector<rules::rule> rules_;
    bool is_recorded_;
    rules::compiled_rules compiled_;
    rules::compiled_rules compiled_after_end_;
};

} // namespace tempinbox::webhooks
