#pragma once

#include "common/core/ids.hpp"

#include <cstdint>
#include <vector>

namespace tempinbox::credentials {

// The accounts that changed after a version, in themselves or in their credentials.
struct change_set
{
    std::int64_t version = 0;
    std::vector<account_id> accounts;
    bool is_complete = true; // false: too many to list
};

} // namespace tempinbox::credentials
