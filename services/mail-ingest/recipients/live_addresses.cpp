#include "mail-ingest/recipients/live_addresses.hpp"

namespace tempinbox::mail_ingest {
namespace {

constexpr std::chrono::seconds quarantine_ttl{10};
// The clocks of hosts may differ by a minute.
constexpr std::chrono::minutes clock_margin{2};

} // namespace

std::optional<live_address> live_addresses::find(const std::string& address, time_point now)
{
    const auto* found = cached_.find(address);
    if (!found)
        return std::nullopt;
    if (found->until > now)
        return *found;
    // Ended, or extended since: a lookup decides.
    cached_.erase(address);
    return std::nullopt;
}

void live_addresses::look_up_started(const std::string& address)
{
    ++under_way_[address].count;
}

std::optional<live_address> live_addresses::look_up_ended(const std::string& address,
                                                          std::optional<live_address> found)
{
    const auto pending = under_way_.find(address);
    if (pending != under_way_.end()) {
        if (!found)
            found = pending->second.created;
        if (--pending->second.count == 0)
            under_way_.erase(pending);
    }
    if (found && ended_.find(found->inbox))
        found.reset();
    if (found)
        cached_.put(address, *found);
    return found;
}

void live_addresses::created(const std::string& address, const live_address& fresh)
{
    if (ended_.find(fresh.inbox))
        return;
    quarantined_.erase(address);
    if (const auto pending = under_way_.find(address); pending != under_way_.end())
        pending->second.created = fresh;
    cached_.put(address, fresh);
}

void live_addresses::quarantined(const std::string& address, quarantined_address found,
                                 time_point now)
{
    if (found.until <= now + clock_margin)
        return;
    found.until = now + quarantine_ttl;
    quarantined_.put(address, found);
}

std::optional<quarantined_address> live_addresses::find_quarantined(const std::string& address,
                                                                    time_point now)
{
    const auto* found = quarantined_.find(address);
    if (!found)
        return std::nullopt;
    if (found->until > now)
        return *found;
    quarantined_.erase(address);
    return std::nullopt;
}

void live_addresses::ended(const std::string& address, inbox_id inbox)
{
    ended_.put(inbox, true);
    if (const auto* found = cached_.find(address); found && found->inbox == inbox)
        cached_.erase(address);
}

} // namespace tempinbox::mail_ingest
