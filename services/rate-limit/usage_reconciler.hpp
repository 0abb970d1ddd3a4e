#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/block.hpp"

#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tempinbox::rate_limit {

// Requests that a gateway let through and tells until they are stored.
struct unreported_usage
{
    uuid id;
    account_id account;
    day on_day{}; // when they were let through
    std::int64_t units = 0;
    versioned_limit limit;
};

// Stores what gateways owe, one statement at a time, what is told meanwhile gathers for the next.
// Promises nothing before the database has it: a debt whose statement failed is forgotten, and
// stored when it is told again. Runs on the loop.
class usage_reconciler
{
public:
    // By account and day; a debt that is stored already is left alone. Throws when the database
    // cannot be reached.
    using store_statement = std::function<awaitable<void>(std::vector<unreported_usage>)>;
    // Of this account more is used than before.
    using stored_callback = std::function<void(account_id)>;

    usage_reconciler(runtime::host& host, store_statement store, stored_callback stored);
    usage_reconciler(const usage_reconciler&) = delete;

    // Whether it is stored for good; what is not will be soon.
    bool take(const unreported_usage& reported);

private:
    // By account and day, as the statement wants them.
    using batch = std::map<std::tuple<account_id, day, uuid>, unreported_usage>;

    awaitable<void> store_pending();
    awaitable<bool> store(std::vector<unreported_usage> usages);

    runtime::host& host_;
    store_statement store_;
    stored_callback stored_;
    batch pending_;
    std::unordered_map<uuid, bool> dedup_; // whether it is stored; else it gathers or is on its way
    bool is_storing_ = false;
    bool is_failing_ = false;
    prometheus::Counter& units_;
};

} // namespace tempinbox::rate_limit
