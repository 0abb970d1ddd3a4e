#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/memory_budget.hpp"
#include "common/http/message.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>

namespace tempinbox::gateway {

// Takes memory for one account; null when there is no room.
using memory_reserver = std::function<memory_budget::reservation(std::size_t bytes)>;

// Memory for large answers until they are sent. All accounts share it; none takes more than a
// quarter, so that the slow downloads of one leave room for the others. One thing alone may be
// larger than either. Used on one thread.
class response_budget
{
public:
    using reservation = memory_budget::reservation;

    explicit response_budget(std::size_t max_bytes)
        : all_(max_bytes),
          max_per_account_(max_bytes / 4)
    {}
    response_budget(const response_budget&) = delete;

    // Null when there is no room.
    reservation try_reserve(account_id account, std::size_t bytes);
    // The same for what takes it later; the memory outlives it.
    memory_reserver reserver_for(account_id account)
    {
        return [this, account](std::size_t bytes) { return try_reserve(account, bytes); };
    }
    std::size_t used() const { return all_.used(); }

private:
    struct account_reservation;
    using account_budgets = std::unordered_map<account_id, memory_budget>;

    memory_budget all_;
    std::size_t max_per_account_;
    std::shared_ptr<account_budgets> account_budgets_ =
        std::make_shared<account_budgets>(); // of the accounts that hold something
};

// Smaller answers are not counted.
constexpr std::size_t small_response = 64 * 1024;
// While an answer is made: as received from the other service, as read from it, and as JSON, where
// escapes and base64 make it larger.
constexpr std::size_t response_copies = 4;

// The answer, counted until it is sent; 503 without room for it.
http::response reserve_response(http::response response, account_id account,
                                response_budget& memory);
http::response out_of_memory_response();
failure out_of_memory_failure();

} // namespace tempinbox::gateway
