#pragma once

#include "accounts/plan_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"

namespace tempinbox::gateway {

// Every plan with its price and limits, from the smallest to the largest.
awaitable<http::response> list_plans(const http::request& received,
                                     accounts::plan_repository& plans);

} // namespace tempinbox::gateway
