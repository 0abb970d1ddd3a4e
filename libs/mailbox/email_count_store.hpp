#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/daily_count.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"

#include <vector>

namespace tempinbox::mailbox {

// How many emails an account got on each day: remaining emails by the index, deleted ones from a
// count. Throws if PostgreSQL cannot be reached.
class email_count_store
{
public:
    explicit email_count_store(postgres::pool& db);

    // The last `days`, today included, oldest first; days without email are left out.
    awaitable<std::vector<daily_count>> list(account_id account, int days);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
