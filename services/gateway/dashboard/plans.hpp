#pragma once

#include "accounts/account_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/http/message.hpp"

namespace tempinbox::gateway {

// Every plan with its price and limits, from the smallest to the largest.
awaitable<http::response> list_plans(const http::request& received,
                                     accounts::account_repository& accounts);

} // namespace tempinbox::gateway
