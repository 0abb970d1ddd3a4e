#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "gateway/long_poll/feed_hub.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

constexpr std::size_t max_feed_cursor_length = 64;

// A place in an account's feed as its readers keep it: opaque, at most 64 characters, and of no
// use to another account. It is no secret.
std::string make_feed_cursor(account_id account, feed_position at);
// Fails with invalid_cursor on whatever make_feed_cursor did not make for the account.
result<feed_position> read_feed_cursor(account_id account, std::string_view text);

} // namespace tempinbox::gateway
