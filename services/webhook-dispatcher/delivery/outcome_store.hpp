#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/outcome.hpp"

#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::webhooks {

// Writes outcomes: an attempt is only added, a finished delivery moves from `due_deliveries` to
// `deliveries`, any other becomes due again. Fenced by the lease: if the lease was lost, only the
// attempt is written. Writing an outcome twice is the same as once.
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
