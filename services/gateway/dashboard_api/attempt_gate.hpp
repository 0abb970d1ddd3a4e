#pragma once

#include "accounts/attempt_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/quota/lookup_limiter.hpp"

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// The way in for who has no session: an attempt is counted for its address before anything is
// looked up for it, a few at a time. An address that has had its number is remembered for a minute,
// so that its further attempts cost PostgreSQL nothing. Bounded; throws when PostgreSQL cannot be
// reached.
class attempt_gate
{
public:
    attempt_gate(accounts::attempt_store& attempts, lookup_limiter& strangers)
        : attempts_(attempts),
          strangers_(strangers)
    {}
    attempt_gate(const attempt_gate&) = delete;

    struct entry
    {
        accounts::attempt_status status;
        lookup_limiter::slot
            slot; // held while more is looked up for the attempt; null where it is not allowed
    };

    // The subjects are of the address. Fails with unavailable when too many try at once.
    awaitable<result<entry>> begin(uuid attempt, std::vector<accounts::attempt_subject> of_address);
    // The attempt succeeded: it counts for nobody.
    awaitable<void> take_back(uuid attempt, std::vector<accounts::attempt_subject> subjects);

    // Also an attempt that is counted for an account, behind the gate.
    accounts::attempt_store& attempts() { return attempts_; }

private:
    using steady = std::chrono::steady_clock;

    struct refusal
    {
        steady::time_point cached_until;
        steady::time_point ends_at;
    };

    std::optional<accounts::attempt_status>
    find_refusal(const std::vector<accounts::attempt_subject>& subjects);
    void remember(const accounts::attempt_status& refused);

    accounts::attempt_store& attempts_;
    lookup_limiter& strangers_;
    std::unordered_map<std::string, refusal> refused_; // by the subject's digest
};

} // namespace tempinbox::gateway
