#include "cli/retry.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::cli;
using namespace std::chrono_literals;

namespace {

http::client_response answered(unsigned status, http::header_list headers = {})
{
    http::client_response response;
    response.status = status;
    response.headers = std::move(headers);
    return response;
}

http::client_response failed(http::exchange_error error)
{
    http::client_response response;
    response.error = error;
    return response;
}

} // namespace

TEST_CASE("a busy service is asked again when it says", "[cli]")
{
    for (const unsigned status : {429U, 502U, 503U, 504U})
        CHECK(retry_delay(answered(status, {{"Retry-After", "7"}}), 1, 0.5) == 7s);
    CHECK(retry_delay(answered(429, {{"Retry-After", "86000"}}), 1, 0.5) == 86'000s);
}

TEST_CASE("a time of zero does not make it ask without a pause", "[cli]")
{
    CHECK(retry_delay(answered(429, {{"Retry-After", "0"}}), 2, 1.0) == 500ms);
    CHECK(retry_delay(answered(503, {{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}}), 2, 1.0) ==
          500ms);
}

TEST_CASE("Retry-After is seconds or a date", "[cli]")
{
    const auto now = *parse_iso8601("1994-11-06T08:49:00Z");
    const auto given = [&](std::string text) {
        return read_retry_after(answered(503, {{"Retry-After", std::move(text)}}), now);
    };
    CHECK(given("7") == 7s);
    CHECK(given("Sun, 06 Nov 1994 08:49:37 GMT") == 37s);
    CHECK(given("Sun, 06 Nov 1994 08:48:37 GMT") == 0s);
    CHECK(given("Sun, 06 Nov 2094 08:49:37 GMT") == std::chrono::hours(7 * 24));
    CHECK_FALSE(given("Sun, 06 Nov 1994 08:49:37 GMT or so"));
    CHECK_FALSE(given("-1"));
    CHECK_FALSE(read_retry_after(answered(503), now));
}

TEST_CASE("without a time the delay doubles up to eight seconds", "[cli]")
{
    CHECK(retry_delay(answered(503), 1, 1.0) == 250ms);
    CHECK(retry_delay(answered(503), 2, 1.0) == 500ms);
    CHECK(retry_delay(answered(503), 3, 0.5) == 500ms);
    CHECK(retry_delay(answered(503), 60, 1.0) == 8s);
    CHECK(retry_delay(answered(503, {{"Retry-After", "tomorrow"}}), 1, 1.0) == 250ms);
    CHECK(retry_delay(failed(http::exchange_error::closed), 1, 1.0) == 250ms);
}

TEST_CASE("what was cut may have worked, also behind a proxy", "[cli]")
{
    for (const unsigned status : {502U, 503U, 504U})
        CHECK(may_have_worked(answered(status)));
    CHECK(may_have_worked(failed(http::exchange_error::closed)));
    for (const unsigned status : {200U, 404U, 409U, 429U, 500U})
        CHECK_FALSE(may_have_worked(answered(status)));
    CHECK_FALSE(may_have_worked(failed(http::exchange_error::connect)));
}

TEST_CASE("what is final is not sent again", "[cli]")
{
    for (const unsigned status : {200U, 400U, 401U, 403U, 404U, 409U, 500U})
        CHECK_FALSE(retry_delay(answered(status, {{"Retry-After", "1"}}), 1, 1.0));
    for (const auto error : {http::exchange_error::connect, http::exchange_error::resolve,
                             http::exchange_error::tls, http::exchange_error::timeout})
        CHECK_FALSE(retry_delay(failed(error), 1, 1.0));
}

TEST_CASE("a target is tried again after 1, 2, 4 … 60 seconds", "[cli]")
{
    CHECK(delivery_delay(1) == 1s);
    CHECK(delivery_delay(2) == 2s);
    CHECK(delivery_delay(6) == 32s);
    CHECK(delivery_delay(7) == 60s);
    CHECK(delivery_delay(1'000'000) == 60s);
}
