#pragma once

#include "common/core/ids.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tempinbox::credentials {

// Result of a look-up in PostgreSQL: the owner, absent for an unknown or revoked credential, and
// the version of changes that the result is as new as.
template <class Owner>
struct owner_lookup
{
    std::int64_t version = 0;
    std::optional<Owner> owner;
};

// The accounts that changed after a version, in themselves or in their credentials.
struct change_set
{
    std::int64_t version = 0;
    std::vector<account_id> accounts;
    bool is_complete = true; // false: too many to list
};

} // namespace tempinbox::credentials
