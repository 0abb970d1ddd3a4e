#include "webhook-dispatcher/api/delivery_requests.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using namespace std::chrono_literals;

namespace {

v1::ListDeliveriesRequest list_request(const std::string& status = "")
{
    v1::ListDeliveriesRequest request;
    request.set_account_id(account_id::make().text());
    request.set_webhook_id(webhook_id::make().text());
    request.set_status(status);
    return request;
}

v1::ReplayDeliveriesRequest replay_request(time_point since)
{
    v1::ReplayDeliveriesRequest request;
    request.set_account_id(account_id::make().text());
    request.set_webhook_id(webhook_id::make().text());
    request.set_replay_id(uuid::make_v7().text());
    request.mutable_since()->set_seconds(to_unix_micros(since) / 1'000'000);
    return request;
}

} // namespace

TEST_CASE("a cursor opens for its webhook, its filter and its order only", "[webhooks]")
{
    auto request = list_request("failed");
    const auto last = event_id::make();
    request.set_cursor(make_log_cursor(read_params(request).value(), last));

    CHECK(read_params(request).value().position == last);
    auto reversed = request;
    reversed.set_oldest_first(true);
    CHECK(read_params(reversed).has_error());
    reversed.clear_cursor();
    reversed.set_cursor(make_log_cursor(read_params(reversed).value(), last));
    CHECK(read_params(reversed).value().position == last);
    reversed.set_oldest_first(false);
    CHECK(read_params(reversed).has_error());
    for (const auto* status : {"", "pending", "succeeded"}) {
        auto other = request;
        other.set_status(status);
        CHECK(read_params(other).has_error());
    }
    auto elsewhere = request;
    elsewhere.set_webhook_id(webhook_id::make().text());
    CHECK(read_params(elsewhere).has_error());
    auto foreign = request;
    foreign.set_account_id(account_id::make().text());
    CHECK(read_params(foreign).has_error());
}

TEST_CASE("an altered cursor is refused by name", "[webhooks]")
{
    auto request = list_request();
    const auto cursor = make_log_cursor(read_params(request).value(), event_id::make());
    for (std::size_t index = 0; index < cursor.size(); index += 7) {
        auto altered = cursor;
        altered[index] = altered[index] == 'A' ? 'B' : 'A';
        request.set_cursor(altered);
        const auto params = read_params(request);
        REQUIRE(params.has_error());
        CHECK(params.error().code == errc::invalid_argument);
        CHECK(params.error().message.starts_with("cursor must be one that this list gave"));
        CHECK(params.error().reason == error_reason::invalid_cursor);
    }
}

TEST_CASE("a page has 25 deliveries unless asked otherwise, of every status", "[webhooks]")
{
    const auto params = read_params(list_request()).value();

    CHECK(params.limit == 25);
    CHECK_FALSE(params.status);
    CHECK_FALSE(params.position);
    CHECK(params.order == list_order::newest_first);
    CHECK(read_params(list_request("exhausted")).has_error());
}

TEST_CASE("a replay is of failed deliveries unless succeeded ones are asked for", "[webhooks]")
{
    const auto now = system_clock_source{}.now();
    auto request = replay_request(now - 1h);

    CHECK_FALSE(read_params(request, now).value().is_of_succeeded);
    request.set_status("succeeded");
    CHECK(read_params(request, now).value().is_of_succeeded);
    request.set_status("pending");
    CHECK(read_params(request, now).has_error());
}

TEST_CASE("a replay begins in the past", "[webhooks]")
{
    const auto now = system_clock_source{}.now();

    CHECK(read_params(replay_request(now + 10s), now).has_error());
    CHECK(read_params(replay_request(time_point{} - 10s), now).has_error());
    auto without = replay_request(now);
    without.clear_since();
    CHECK(read_params(without, now).has_error());
}
