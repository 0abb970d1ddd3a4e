#include "gateway/access/session_day.hpp"

#include "common/crypto/digest.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

// To rate-limit the sessions of an account are another account.
account_id sessions_of(account_id account)
{
    const auto digest = crypto::sha256("sessions of " + account.text());
    std::array<std::uint8_t, 16> bytes{};
    std::copy_n(digest.begin(), bytes.size(), bytes.begin());
    return account_id{uuid(bytes)};
}

} // namespace

session_day::session_day(quota_client& quota, std::int64_t requests_a_day, time_point started)
    : quota_(quota),
      requests_a_day_(requests_a_day),
      version_(to_unix_micros(started))
{}

awaitable<quota_decision> session_day::take(account_id account)
{
    if (requests_a_day_ <= 0)
        co_return quota_decision();
    plans::account_state day;
    day.account = sessions_of(account);
    day.limits.requests_per_day = requests_a_day_;
    day.version = version_;
    co_return co_await quota_.take(day);
}

} // namespace tempinbox::gateway
