#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/api/caller.hpp"
#include "gateway/waiting/waiting_room.hpp"

namespace tempinbox::gateway {

awaitable<http::response> wait_for_email(http::request& received, const caller& who,
                                         waiting_room& room);

} // namespace tempinbox::gateway
