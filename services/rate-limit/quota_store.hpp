#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"
#include "rate-limit/quota_rule.hpp"

#include <optional>
#include <vector>

namespace tempinbox::rate_limit {

// What one account asks for.
struct ask
{
    account_id account;
    std::int64_t units = 0;
    std::int64_t let_through = 0;
    std::int64_t limit = 0;
    std::int64_t limit_version = 0;
};

// What a batch came to: a decision an ask, in their order, and the limit each was judged by. `day_differs` when PostgreSQL's
// clock is on another day than the one asked for: nothing was counted then.
struct batch_outcome
{
    std::vector<decision> decisions;
    std::vector<std::int64_t> limits;
    bool day_differs = false;
};

// The counts of each account and day. A batch is one transaction that locks its rows in account order, so that replicas do not
// deadlock. Throws dependency_error when PostgreSQL cannot be reached.
class quota_store
{
public:
    explicit quota_store(postgres::pool& db);

    awaitable<batch_outcome> take(day today, std::vector<ask> asks);

    // Deletes some of the rows before `oldest`; how many.
    awaitable<std::size_t> forget_before(day oldest);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::rate_limit
