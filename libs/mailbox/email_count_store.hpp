#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::mailbox {

// How many emails an account got a day: those still there by the index, those deleted from their
// count. Throws when PostgreSQL cannot be reached.
class email_count_store
{
public:
    explicit email_count_store(postgres::pool& db);

    // The last `days`, today included, oldest first; days without any are left out.
    awaitable<std::vector<daily_count>> list(account_id account, int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
