#include "cli/retry.hpp"

#include "common/core/time.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>

namespace tempinbox::cli {

namespace {

constexpr std::chrono::milliseconds first_delay{250};
constexpr std::chrono::milliseconds max_delay{8'000};
constexpr std::chrono::seconds max_delivery_delay{60};
constexpr std::int64_t max_retry_after = 7 * 86'400;

// Seconds from now until an IMF-fixdate (RFC 9110 5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`.
std::optional<std::int64_t> seconds_until(const std::string& date, time_point now)
{
    std::tm parts = {};
    const char* const rest = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    if (!rest || *rest != '\0')
        return std::nullopt;
    return std::max<std::int64_t>(0, ::timegm(&parts) - to_unix_seconds(now));
}

} // namespace

std::optional<std::chrono::seconds> read_retry_after(const http::client_response& response,
                                                     time_point now)
{
    const auto header = response.header("Retry-After");
    if (!header)
        return std::nullopt;
    std::int64_t seconds = 0;
    const auto end = header->data() + header->size();
    const auto [rest, error] = std::from_chars(header->data(), end, seconds);
    if (error != std::errc() || rest != end || seconds < 0) {
        const auto left = seconds_until(std::string(*header), now);
        if (!left)
            return std::nullopt;
        seconds = *left;
    }
    return std::chrono::seconds(std::min(seconds, max_retry_after));
}

bool may_have_worked(const http::client_response& response)
{
    // 502 and 504 are of a proxy whose service went away under the request.
    const auto status = response.error == http::exchange_error::none ? response.status : 0;
    return response.error == http::exchange_error::closed || status == 502 || status == 503 ||
           status == 504;
}

std::optional<std::chrono::milliseconds> retry_delay(const http::client_response& response,
                                                     unsigned attempts, double jitter)
{
    const bool is_cut = response.error == http::exchange_error::closed;
    const bool is_busy = response.error == http::exchange_error::none &&
                         (response.status == 429 || may_have_worked(response));
    if (!is_cut && !is_busy)
        return std::nullopt;
    const auto doubled = first_delay * (1 << std::min(attempts > 0 ? attempts - 1 : 0, 10U));
    const auto longest = std::min<std::chrono::milliseconds>(doubled, max_delay);
    const auto untold = std::chrono::milliseconds(
        static_cast<std::int64_t>(static_cast<double>(longest.count()) * jitter));
    // A proxy may say 0, or a date that this machine's clock has passed.
    if (const auto given = read_retry_after(response, system_clock_source().now());
        is_busy && given)
        return std::max<std::chrono::milliseconds>(*given, untold);
    return untold;
}

std::chrono::seconds delivery_delay(unsigned attempts)
{
    const std::chrono::seconds doubled(1 << std::min(attempts > 0 ? attempts - 1 : 0, 10U));
    return std::min(doubled, max_delivery_delay);
}

awaitable<void> wait_a_while(std::chrono::milliseconds delay)
{
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, delay);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
}

} // namespace tempinbox::cli
