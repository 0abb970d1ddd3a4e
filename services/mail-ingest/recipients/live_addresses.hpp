#pragma once

#include "common/core/ids.hpp"
#include "common/core/lru_cache.hpp"
#include "common/core/time.hpp"

#include <map>
#include <optional>
#include <string>

namespace tempinbox::mail_ingest {

struct live_address
{
    account_id account;
    inbox_id inbox;
    time_point until;
};

// The address's last inbox has ended. `until` is when somebody may get the address again.
struct quarantined_address
{
    account_id account;
    inbox_id inbox;
    time_point until;
};

// Cache of live addresses, filled by lookups and by events inbox.created and inbox.expired. An
// event that arrives during a lookup of its address wins. A miss must be looked up. Two things are
// cached about addresses that are not live: quarantine, for ten seconds and not near its end, since
// a new inbox must receive at once; and which inboxes have ended, since events may come in any
// order.
class live_addresses
{
public:
    explicit live_addresses(std::size_t max_addresses) : cached_(max_addresses) {}

    std::optional<live_address> find(const std::string& address, time_point now);

    // Call these around a lookup. `look_up_ended` returns what the lookup found, corrected by the
    // events that came meanwhile.
    void look_up_started(const std::string& address);
    std::optional<live_address> look_up_ended(const std::string& address,
                                              std::optional<live_address> found);

    void created(const std::string& address, const live_address& fresh);
    // An inbox was created that may have ended since: the address is looked up.
    void created_long_ago(const std::string& address) { quarantined_.erase(address); }
    void ended(const std::string& address, inbox_id inbox);
    // A lookup found the address in quarantine.
    void quarantined(const std::string& address, quarantined_address found, time_point now);
    std::optional<quarantined_address> find_quarantined(const std::string& address, time_point now);
    // The database contradicted the cached entry.
    void evict(const std::string& address) { cached_.erase(address); }

    std::size_t size() const { return cached_.size(); }

private:
    struct look_up
    {
        int count = 0;
        std::optional<live_address> created;
    };

    lru_cache<std::string, live_address> cached_;
    lru_cache<inbox_id, bool> ended_{100'000};
    // `until` is when the entry expires.
    lru_cache<std::string, quarantined_address> quarantined_{100'000};
    std::map<std::string, look_up> under_way_;
};

} // namespace tempinbox::mail_ingest
