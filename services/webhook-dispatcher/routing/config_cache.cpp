#include "webhook-dispatcher/routing/config_cache.hpp"

#include "webhook-dispatcher/endpoints/signature.hpp"

#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

std::optional<secret> open_key(const crypto::keyring& keys, const std::string& sealed,
                               webhook_id id)
{
    const auto text = keys.open(sealed, id.text());
    const auto key = text ? read_signing_secret(*text) : text;
    if (!key) {
        log::error("webhook secret cannot be opened",
                   {{"webhook_id", id.text()}, {"reason", key.error().message}});
        return std::nullopt;
    }
    return *key;
}

} // namespace

config_cache::config_cache(rule_repository& rules, const crypto::keyring& keys, url_policy policy,
                           std::size_t capacity)
    : rules_(rules),
      keys_(keys),
      policy_(std::move(policy)),
      capacity_(capacity)
{}

std::optional<config_cache::configs> config_cache::cached(const std::vector<account_id>& accounts)
{
    configs found;
    for (const auto& account : accounts) {
        const auto cached = entries_.find(account);
        if (cached == entries_.end())
            return std::nullopt;
        cached->second.last_use = ++uses_;
        found.emplace(account, cached->second.config);
    }
    return found;
}

awaitable<config_cache::configs> config_cache::current(std::vector<account_id> accounts)
{
    std::sort(accounts.begin(), accounts.end());
    accounts.erase(std::unique(accounts.begin(), accounts.end()), accounts.end());
    const auto versions = co_await rules_.find_versions(accounts);

    // Takes what is new enough now: while the rest is loaded, other callers may replace or evict
    // entries.
    configs found;
    std::vector<account_id> stale;
    for (const auto& [account, version] : versions) {
        const auto cached = entries_.find(account);
        if (cached == entries_.end() || cached->second.config->version() < version) {
            stale.push_back(account);
            continue;
        }
        cached->second.last_use = ++uses_;
        found.emplace(account, cached->second.config);
    }
    if (!stale.empty()) {
        const auto loaded = co_await rules_.load_configs(stale);
        for (const auto& stored : loaded)
            found.emplace(stored.account, insert(stored));
    }
    evict_lru();
    co_return found;
}

receiver config_cache::open(const endpoint& stored) const
{
    receiver opened;
    opened.account = stored.account;
    opened.id = stored.id;
    opened.url = stored.url;
    opened.events = stored.events;
    opened.is_enabled = stored.is_enabled;
    if (stored.is_refused)
        opened.refusal = stored.disabled_reason;
    opened.key = open_key(keys_, stored.sealed_secret, stored.id);
    for (const auto& previous : stored.previous_secrets)
        if (const auto key = open_key(keys_, previous.sealed, stored.id))
            opened.previous_keys.push_back({*key, previous.valid_until});
    opened.renewed_at = stored.renewed_at;
    return opened;
}

// Returns the newer of this and what another caller cached meanwhile.
std::shared_ptr<const account_config> config_cache::insert(const stored_config& stored)
{
    const auto cached = entries_.find(stored.account);
    if (cached != entries_.end() && cached->second.config->version() >= stored.version)
        return cached->second.config;
    std::vector<receiver> receivers;
    receivers.reserve(stored.endpoints.size());
    for (const auto& endpoint : stored.endpoints)
        receivers.push_back(open(apply_url_policy(endpoint, policy_)));
    entry made;
    made.config = std::make_shared<const account_config>(
        stored.version, stored.state, std::move(receivers), stored.rules, stored.is_recorded);
    made.last_use = ++uses_;
    return entries_.insert_or_assign(stored.account, std::move(made)).first->second.config;
}

void config_cache::evict_lru()
{
    if (entries_.size() <= capacity_)
        return;
    // Evicts a tenth more than needed, so that this is rare.
    std::vector<std::uint64_t> uses;
    uses.reserve(entries_.size());
    for (const auto& [account, value] : entries_)
        uses.push_back(value.last_use);
    const auto surplus = entries_.size() - capacity_ + capacity_ / 10;
    const auto edge =
        uses.begin() + static_cast<std::ptrdiff_t>(std::min(surplus, uses.size() - 1));
    std::nth_element(uses.begin(), edge, uses.end());
    std::erase_if(entries_, [threshold = *edge](const auto& item) {
        return item.second.last_use < threshold;
    });
}

} // namespace tempinbox::webhooks
