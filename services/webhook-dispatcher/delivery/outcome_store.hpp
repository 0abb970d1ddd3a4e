#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/outcome.hpp"

#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Writes what came of deliveries: an attempt is only added, a finished delivery moves from `due` to
// `delivery`, the rest is due again. Fenced by the lease: an outcome whose lease was lost changes
// nothing but still leaves its attempt. Writing one twice is the same as once.
class outcome_store
{
public:
    explicit outcome_store(postgres::pool& db);

    // One statement for all. Throws when PostgreSQL cannot be reached.
    awaitable<void> write(const std::vector<delivery_outcome>& outcomes);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
