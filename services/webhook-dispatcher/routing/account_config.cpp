#include "webhook-dispatcher/routing/account_config.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

std::vector<rules::rule> oldest(const std::vector<rules::rule>& rules, int number)
{
    const auto count = std::min(rules.size(), static_cast<std::size_t>(std::max(number, 0)));
    return {rules.begin(), rules.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool contains(const std::vector<rule_id>& ids, rule_id id)
{
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

} // namespace

std::vector<secret> receiver::keys_at(time_point now) const
{
    std::vector<secret> keys;
    if (key)
        keys.push_back(*key);
    for (const auto& previous : previous_keys)
        if (now < previous.valid_until)
            keys.push_back(previous.key);
    return keys;
}

account_config::account_config(std::int64_t version, std::optional<plans::account_state> state,
                               std::vector<receiver> endpoints, std::vector<rules::rule> rules,
                               bool is_recorded)
    : version_(version),
      state_(std::move(state)),
      rules_(std::move(rules)),
      is_recorded_(is_recorded),
      compiled_(oldest(rules_, state_ ? state_->limits.routing_rules : 0)),
      compiled_after_end_(oldest(rules_, state_ ? state_->limits_after_end.routing_rules : 0))
{
    endpoints_.reserve(endpoints.size());
    for (auto& entry : endpoints)
        endpoints_.push_back(std::make_shared<const receiver>(std::move(entry)));
}

std::shared_ptr<const receiver> account_config::find(webhook_id id) const
{
    const auto found = std::find_if(endpoints_.begin(), endpoints_.end(),
                                    [id](const auto& entry) { return entry->id == id; });
    return found == endpoints_.end() ? nullptr : *found;
}

bool account_config::is_active(webhook_id id, time_point now) const
{
    const auto end = endpoints_.begin() + static_cast<std::ptrdiff_t>(active_endpoints(now));
    return std::any_of(endpoints_.begin(), end,
                       [id](const auto& entry) { return entry->id == id; });
}

std::size_t account_config::active_endpoints(time_point now) const
{
    if (!state_ || state_->is_deleted)
        return 0;
    return std::min(endpoints_.size(),
                    static_cast<std::size_t>(std::max(state_->limits_at(now).webhooks, 0)));
}

const rules::compiled_rules& account_config::rules_at(time_point now) const
{
    return state_ && state_->has_ended(now) ? compiled_after_end_ : compiled_;
}

std::vector<route> account_config::choose_routes(event_kind kind, const rules::rule_input* mail,
                                                 time_point now,
                                                 std::vector<rule_match>* matches) const
{
    if (const auto& compiled = rules_at(now); mail != nullptr && !compiled.empty())
        return routes_by_rules(compiled, *mail, now, matches);

    std::vector<route> routes;
    for (std::size_t i = 0; i < active_endpoints(now); ++i) {
        if (!endpoints_[i]->events.contains(kind))
            continue;
        route chosen;
        chosen.to = endpoints_[i];
        chosen.is_skipped = !endpoints_[i]->is_enabled;
        routes.push_back(std::move(chosen));
    }
    return routes;
}

std::vector<route> account_config::routes_by_rules(const rules::compiled_rules& compiled,
                                                   const rules::rule_input& mail, time_point now,
                                                   std::vector<rule_match>* matches) const
{
    const auto outcome = compiled.evaluate(mail);
    if (matches != nullptr)
        for (const auto& rule : compiled.rules())
            matches->push_back({rule.id, contains(outcome.matched, rule.id)});
    std::vector<route> routes;
    for (const auto webhook : outcome.webhooks) {
        if (!is_active(webhook, now))
            continue;
        route chosen;
        chosen.to = find(webhook);
        chosen.is_skipped = !chosen.to->is_enabled;
        for (const auto& rule : rules_)
            if (rule.webhook == webhook && contains(outcome.matched, rule.id))
                chosen.rules.push_back(rule.id);
        routes.push_back(std::move(chosen));
    }
    return routes;
}

} // namespace tempinbox::webhooks
