#pragma once

#include "accounts/sign_in_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/access/key_cache.hpp"
#include "gateway/quota/lookup_limiter.hpp"

#include <optional>
#include <string>
#include <unordered_set>

namespace tempinbox::gateway {

// The account of a session: absent if the session is unknown or has ended.
struct session_result
{
    std::optional<accounts::account> account;
    bool was_strange = false; // this gateway had not seen it open
};

// Looks sessions up, each time anew. A session that this gateway has not seen open may be anything
// a stranger sends, so it is looked up through the limiter. Bounded; throws when PostgreSQL cannot
// be reached.
class session_lookups
{
public:
    session_lookups(accounts::sign_in_repository& sign_in, lookup_limiter& strangers)
        : sign_in_(sign_in),
          strangers_(strangers)
    {}
    session_lookups(const session_lookups&) = delete;

    // Fails with rate_limited if `allowed` forbids the lookup, with unavailable when too many
    // lookups are under way.
    awaitable<result<session_result>> find(std::string digest, lookups allowed);

    // The session was opened here.
    void note_open(std::string digest);

private:
    accounts::sign_in_repository& sign_in_;
    lookup_limiter& strangers_;
    std::unordered_set<std::string> seen_open_;
};

} // namespace tempinbox::gateway
