#pragma once

#include "accounts/sign_in_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"
#include "gateway/quota/lookup_limiter.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tempinbox::gateway {

// Guards the operations that need no session. An attempt is counted for its address before anything
// is looked up for it, and only a few attempts run at a time. An address that has used up its
// attempts is refused from memory for a minute, so further attempts cost PostgreSQL nothing.
// Bounded; throws when PostgreSQL cannot be reached.
class attempt_gate
{
public:
    attempt_gate(accounts::sign_in_repository& sign_in, lookup_limiter& strangers)
        : sign_in_(sign_in),
          strangers_(strangers)
    {}
    attempt_gate(const attempt_gate&) = delete;

    // An attempt that may go on, or the response that refuses it.
    struct entry
    {
        std::optional<http::response> refusal;
        // Held while more is looked up for the attempt; null if it is refused.
        lookup_limiter::slot slot;
    };

    // The subjects belong to the address. Refuses with 429 past their attempts, and with 503 when
    // too many attempts run at once.
    awaitable<entry> begin(uuid attempt, std::vector<accounts::attempt_subject> of_address);
    // The attempt succeeded, so it no longer counts for any subject.
    awaitable<void> take_back(uuid attempt, std::vector<accounts::attempt_subject> subjects);

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

    accounts::sign_in_repository& sign_in_;
    lookup_limiter& strangers_;
    std::unordered_map<std::string, refusal> refused_; // by the subject's digest
};

} // namespace tempinbox::gateway
