#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/url_policy.hpp"
#include "webhook-dispatcher/routing/account_config.hpp"
#include "webhook-dispatcher/storage/rule_repository.hpp"

#include "common/crypto/sealing.hpp"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tempinbox::webhooks {

// Compiled configurations of the accounts used last (LRU). `current` compares with the stored
// versions each time, so a change is in force for whatever is read after it was committed; a caller
// of `cached` compares them itself. Used on the loop only.
class config_cache
{
public:
    using configs = std::unordered_map<account_id, std::shared_ptr<const account_config>>;

    config_cache(rule_repository& rules, const crypto::keyring& keys, url_policy policy,
                 std::size_t capacity = 20'000);

    // Perhaps out of date; nullopt if one of the accounts is not cached.
    std::optional<configs> cached(const std::vector<account_id>& accounts);
    // Accounts that never had an endpoint or a feed are absent. Throws when PostgreSQL cannot be
    // reached.
    awaitable<configs> current(std::vector<account_id> accounts);
    // After a change of the keys: what is cached was opened with the older ones.
    void clear() { entries_.clear(); }
    std::size_t size() const { return entries_.size(); }

private:
    struct entry
    {
        std::shared_ptr<const account_config> config;
        std::uint64_t last_use = 0;
    };

    receiver open(const endpoint& stored) const;
    std::shared_ptr<const account_config> insert(const stored_config& stored);
    void evict_lru();

    rule_repository& rules_;
    const crypto::keyring& keys_;
    url_policy policy_;
    std::size_t capacity_;
    std::uint64_t uses_ = 0;
    std::unordered_map<account_id, entry> entries_;
};

} // namespace tempinbox::webhooks
