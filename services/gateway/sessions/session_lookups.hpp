#pragma once

#include "accounts/session_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/keys/key_cache.hpp"
#include "gateway/quota/lookup_limiter.hpp"

#include <optional>
#include <string>
#include <unordered_set>

namespace tempinbox::gateway {

// Whose a session is: absent for one that is unknown or has ended.
struct session_result
{
    std::optional<accounts::account> account;
    bool was_strange = false; // this gateway had not seen it open
};

// Looks sessions up, each time anew. One that this gateway has not seen open may be anything a
// stranger sends: it is looked up through the limiter. Bounded; throws when PostgreSQL cannot be
// reached.
class session_lookups
{
public:
    session_lookups(accounts::session_store& sessions, lookup_limiter& strangers)
        : sessions_(sessions),
          strangers_(strangers)
    {}
    session_lookups(const session_lookups&) = delete;

    // Fails with rate_limited for a session that may not be looked up, with unavailable when too
    // many are.
    awaitable<result<session_result>> find(std::string digest, lookups allowed);

    // It was opened here.
    void note_open(std::string digest);

private:
    accounts::session_store& sessions_;
    lookup_limiter& strangers_;
    std::unordered_set<std::string> seen_open_;
};

} // namespace tempinbox::gateway
