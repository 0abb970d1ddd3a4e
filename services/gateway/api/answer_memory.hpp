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
using take_answer_memory = std::function<memory_budget::reservation(std::size_t bytes)>;

// Memory for large answers until they are sent. All accounts share it; none takes more than a
// quarter, so that the slow downloads of one leave room for the others. One thing alone may be
// larger than either. Used on one thread.
class answer_memory
{
public:
    using reservation = memory_budget::reservation;

    explicit answer_memory(std::size_t most) : all_(most), most_of_one_(most / 4) {}
    answer_memory(const answer_memory&) = delete;

    // Null when there is no room.
    reservation try_reserve(account_id account, std::size_t bytes);
    // The same for what takes it later; the memory outlives it.
    take_answer_memory taking_for(account_id account)
    {
        return [this, account](std::size_t bytes) { return try_reserve(account, bytes); };
    }
    std::size_t used() const { return all_.used(); }

private:
    struct taken;
    using shares = std::unordered_map<account_id, memory_budget>;

    memory_budget all_;
    std::size_t most_of_one_;
    std::shared_ptr<shares> shares_ =
        std::make_shared<shares>(); // of the accounts that hold something
};

// Smaller answers are not counted.
constexpr std::size_t small_answer = 64 * 1024;
// While an answer is made: as received from the other service, as read from it, and as JSON, where
// escapes and base64 make it larger.
constexpr std::size_t answer_copies = 4;

// The answer, counted until it is sent; 503 without room for it.
http::response count_answer(http::response answer, account_id account, answer_memory& memory);
http::response no_room();
failure no_room_for_answer();

} // namespace tempinbox::gateway
