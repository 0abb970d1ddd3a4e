#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/api/answer_memory.hpp"

#include <functional>
#include <utility>

namespace tempinbox::gateway {

// What another service answered, and the memory that is counted for it while an answer is made of
// it.
template <class Response>
struct counted_reading
{
    Response found;
    answer_memory::reservation counted; // null where it is small
};

// Asks for what may be large: what is small comes with the first call, the rest with a second one,
// once there is memory for it. Fails as the calls do, and with unavailable when there is no room.
template <class Request, class Response>
awaitable<result<counted_reading<Response>>>
read_counted(Request wanted, std::function<awaitable<result<Response>>(Request)> ask,
             take_answer_memory take)
{
    wanted.set_most_bytes(small_answer);
    auto small = ask(wanted);
    auto found = co_await std::move(small);
    if (!found)
        co_return found.error();
    counted_reading<Response> reading;
    if (found->omitted_bytes() > 0) {
        reading.counted = take(answer_copies * static_cast<std::size_t>(found->omitted_bytes()));
        if (!reading.counted)
            co_return no_room_for_answer();
        wanted.set_most_bytes(0);
        auto whole = ask(std::move(wanted));
        found = co_await std::move(whole);
        if (!found)
            co_return found.error();
    }
    reading.found = std::move(*found);
    co_return reading;
}

} // namespace tempinbox::gateway
