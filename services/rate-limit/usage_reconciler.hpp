#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/block.hpp"

#include <functional>
#include <unordered_map>
#include <vector>

namespace tempinbox::rate_limit {

// Requests that a gateway let pass while nobody could count them. It reports them until they are
// stored.
struct unreported_usage
{
    uuid id;
    account_id account;
    day on_day{}; // when they passed
    std::int64_t units = 0;
    versioned_limit limit;
};

// Stores the usage that gateways report, in one statement at a time; reports that come meanwhile
// form the next batch. Confirms nothing before the database has it: if the statement fails, the
// usage is dropped here and stored when the gateway reports it again. Runs on the loop; must
// outlive its statements.
class usage_reconciler
{
public:
    // Usages sorted by account and day; ids that are already stored are skipped. Throws when the
    // database cannot be reached. A function, so that tests see each statement and let it fail.
    using store_statement = std::function<awaitable<void>(std::vector<unreported_usage>)>;
    // The database counted additional usage of this account.
    using stored_callback = std::function<void(account_id)>;

    usage_reconciler(runtime::host& host, store_statement store, stored_callback stored);
    usage_reconciler(const usage_reconciler&) = delete;

    // Returns whether the usage is committed; if not, it is queued to be stored.
    bool take(const unreported_usage& reported);

private:
    awaitable<void> store(std::vector<unreported_usage> usages);

    store_statement store_;
    stored_callback stored_;
    std::unordered_map<uuid, bool> dedup_; // true: stored; false: pending or in flight
    prometheus::Counter& units_;
    async::batcher<unreported_usage, void> batches_;
};

} // namespace tempinbox::rate_limit
