#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/api/response_budget.hpp"

#include <functional>
#include <utility>

namespace tempinbox::gateway {

// A response of another service, and the memory reserved for it while the gateway makes its own
// response from it.
template <class Response>
struct counted_reading
{
    Response found;
    response_budget::reservation counted; // null if the response is small
};

// Makes a call whose response may be large. The first call leaves out large fields; if there were
// any, a second call reads the whole response after memory for it was reserved. Fails with the
// call's error, and with unavailable when there is no memory.
template <class Request, class Response>
awaitable<result<counted_reading<Response>>>
read_counted(Request request, std::function<awaitable<result<Response>>(Request)> fetch,
             memory_reserver reserve)
{
    request.set_most_bytes(small_response);
    auto small = fetch(request);
    auto found = co_await std::move(small);
    if (!found)
        co_return found.error();
    counted_reading<Response> reading;
    if (found->omitted_bytes() > 0) {
        reading.counted =
            reserve(response_copies * static_cast<std::size_t>(found->omitted_bytes()));
        if (!reading.counted)
            co_return out_of_memory_failure();
        request.set_most_bytes(0);
        auto whole = fetch(std::move(request));
        found = co_await std::move(whole);
        if (!found)
            co_return found.error();
    }
    reading.found = std::move(*found);
    co_return reading;
}

} // namespace tempinbox::gateway
