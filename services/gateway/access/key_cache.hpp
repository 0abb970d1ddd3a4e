#pragma once

#include "accounts/key_repository.hpp"
#include "common/credentials/credential_cache.hpp"
#include "common/runtime/host.hpp"
#include "gateway/quota/lookup_limiter.hpp"

namespace tempinbox::gateway {

using credentials::lookups;

// The owner of a key: null if the key is unknown or revoked. Whether the key has expired is for the
// caller to see.
using key_result = credentials::cache_result<accounts::key_owner>;

// A cache of API keys' owners, by the digest of the key; it reads accounts.changes.
class key_cache : public credentials::credential_cache<accounts::key_owner>
{
public:
    // `changes` has a connection that nothing else uses.
    key_cache(runtime::host& host, accounts::key_repository& keys,
              accounts::key_repository& changes, lookup_limiter& strangers);
};

} // namespace tempinbox::gateway
