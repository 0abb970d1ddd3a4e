#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/core/memory_budget.hpp"
#include "common/http/message.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>

namespace tempinbox::gateway {

// Memory for large responses until they are sent. All accounts share it. One account gets at most a
// quarter, so its slow downloads leave memory for the others. A single response may be larger than
// either bound if it is alone. Used on one thread.
class response_budget
{
public:
    using reservation = memory_budget::shared_reservation;

    explicit response_budget(std::size_t max_bytes)
        : all_(max_bytes),
          max_per_account_(max_bytes / 4)
    {}
    response_budget(const response_budget&) = delete;

    // Null when there is no memory left.
    reservation try_reserve(account_id account, std::size_t bytes);
    std::size_t used() const { return all_.used(); }

private:
    struct account_reservation;
    using account_budgets = std::unordered_map<account_id, memory_budget>;

    memory_budget all_;
    std::size_t max_per_account_;
    // Only accounts that hold a reservation.
    std::shared_ptr<account_budgets> account_budgets_ = std::make_shared<account_budgets>();
};

// Smaller responses are not counted.
constexpr std::size_t small_response = 64 * 1024;
// Copies that exist while a response is made: as received from the other service, as parsed from
// it, and as JSON, which escapes and base64 make larger.
constexpr std::size_t response_copies = 4;

// The response, counted until it is sent; 503 if there is no memory for it.
http::response reserve_response(http::response response, account_id account,
                                response_budget& memory);
http::response out_of_memory_response();
failure out_of_memory_failure();

} // namespace tempinbox::gateway
