#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tempinbox::gateway {

// How far a feed is, as a gateway knows it.
struct feed_position
{
    int epoch = 0;
    std::int64_t position = 0;

    friend bool operator==(const feed_position&, const feed_position&) = default;
};

constexpr std::size_t max_feed_cursor_length = 64;

// A place in an account's feed as its readers keep it: opaque, at most 64 characters, and of no
// use to another account. It is no secret.
std::string make_feed_cursor(account_id account, feed_position at);
// Fails with invalid_cursor on whatever make_feed_cursor did not make for the account.
result<feed_position> read_feed_cursor(account_id account, std::string_view text);

} // namespace tempinbox::gateway
