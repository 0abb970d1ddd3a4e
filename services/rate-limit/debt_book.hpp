#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/lease.hpp"

#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tempinbox::rate_limit {

// Requests that a gateway let through and tells until they are stored.
struct debt
{
    uuid id;
    account_id account;
    day on_day{}; // when they were let through
    std::int64_t units = 0;
    known_limit limit;
};

// Stores what gateways owe, one statement at a time, what is told meanwhile gathers for the next.
// Promises nothing before the database has it: a debt whose statement failed is forgotten, and
// stored when it is told again. Runs on the loop.
class debt_book
{
public:
    // By account and day; a debt that is stored already is left alone. Throws when the database
    // cannot be reached.
    using store_statement = std::function<awaitable<void>(std::vector<debt>)>;
    // Of this account more is used than before.
    using stored_callback = std::function<void(account_id)>;

    debt_book(runtime::host& host, store_statement store, stored_callback stored);
    debt_book(const debt_book&) = delete;

    // Whether it is stored for good; what is not will be soon.
    bool take(const debt& told);

private:
    // By account and day, as the statement wants them.
    using batch = std::map<std::tuple<account_id, day, uuid>, debt>;

    awaitable<void> store_what_gathers();
    awaitable<bool> store(std::vector<debt> debts);

    runtime::host& host_;
    store_statement store_;
    stored_callback stored_;
    batch gathering_;
    std::unordered_map<uuid, bool> known_; // whether it is stored; else it gathers or is on its way
    bool is_storing_ = false;
    bool is_failing_ = false;
    prometheus::Counter& units_;
};

} // namespace tempinbox::rate_limit
