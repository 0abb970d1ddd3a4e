#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/errors.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/pipeline/response_budget.hpp"

#include <type_traits>
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

// Whether the call goes in one request with others, which are answered together: then it should be
// cheap.
enum class call_mode { alone, batched };

// Calls the inbox service for what may be large. The first call leaves out large fields; if there
// were any, a second call reads the whole response after memory for it was reserved. The first one
// tells about how large they are; a response that proves larger has memory for that reserved
// before it is used. Fails with the call's error, and with unavailable when there is no memory.
template <class Request, class Response>
awaitable<result<counted_reading<Response>>>
read_counted(inbox_client& inboxes, rpc::method<Request, Response> called,
             std::type_identity_t<Request> request, response_budget& memory, account_id account,
             call_mode first = call_mode::batched)
{
    request.set_most_bytes(small_response);
    auto found = first == call_mode::batched
                     ? co_await inboxes.call_batched(called, request, account)
                     : co_await inboxes.call(called, request);
    if (!found)
        co_return found.error();
    counted_reading<Response> reading;
    if (found->omitted_bytes() > 0) {
        reading.counted = memory.try_reserve(
            account, response_copies * static_cast<std::size_t>(found->omitted_bytes()));
        if (!reading.counted)
            co_return out_of_memory_failure();
        request.set_most_bytes(0);
        const auto omitted_bytes = static_cast<std::size_t>(found->omitted_bytes());
        found = co_await inboxes.call(called, std::move(request));
        if (!found)
            co_return found.error();
        const auto bytes = found->ByteSizeLong();
        if (bytes > omitted_bytes + small_response) {
            reading.counted.reset(); // else the account's share would have to hold both
            reading.counted = memory.try_reserve(account, response_copies * bytes);
            if (!reading.counted)
                co_return out_of_memory_failure();
        }
    }
    reading.found = std::move(*found);
    co_return reading;
}

} // namespace tempinbox::gateway
