#include "rate-limit/quota_rpc.hpp"

#include "common/log/log.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t most_units = 1'000'000'000;

result<std::vector<ask>> read_asks(const ratelimit::v1::TakeQuotaRequest& request)
{
    if (request.items_size() > most_items)
        return failure{errc::invalid_argument, "items must be at most " + std::to_string(most_items)};
    std::vector<ask> asks;
    for (const auto& item : request.items()) {
        const auto account = account_id::parse(item.account_id());
        if (!account)
            return account.error();
        for (const auto units : {item.units(), item.let_through()})
            if (units < 0 || units > most_units)
                return failure{errc::invalid_argument, "units and let_through must be from 0 to " + std::to_string(most_units)};
        if (item.limit() < 0)
            return failure{errc::invalid_argument, "limit must not be negative"};
        asks.push_back(ask{*account, item.units(), item.let_through(), item.limit(), item.limit_version()});
    }
    return asks;
}

ratelimit::v1::TakeQuotaResponse to_response(const batch_outcome& outcome, day today)
{
    ratelimit::v1::TakeQuotaResponse response;
    response.mutable_day()->set_seconds(std::chrono::duration_cast<std::chrono::seconds>(today.time_since_epoch()).count());
    for (std::size_t i = 0; i < outcome.decisions.size(); ++i) {
        auto& item = *response.add_results();
        item.set_granted(outcome.decisions[i].granted);
        item.set_limit(outcome.limits[i]);
        item.set_remaining(outcome.decisions[i].remaining);
        item.set_reset(reset_after(today));
    }
    return response;
}

} // namespace

void quota_rpc::add_to(rpc::server& server)
{
    server.add<ratelimit::v1::TakeQuotaRequest, ratelimit::v1::TakeQuotaResponse>(
        "tempinbox.ratelimit.v1.RateLimitService/TakeQuota",
        [this](ratelimit::v1::TakeQuotaRequest request) { return take(std::move(request)); });
}

awaitable<result<ratelimit::v1::TakeQuotaResponse>> quota_rpc::take(ratelimit::v1::TakeQuotaRequest request)
{
    const auto asks = read_asks(request);
    if (!asks)
        co_return asks.error();
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    for (int tries = 0; tries < 100; ++tries) {
        const day today = day_of(clock_.now());
        std::vector<ask> batch = *asks;
        const batch_outcome outcome = co_await store_.take(today, std::move(batch));
        if (!outcome.day_differs)
            co_return to_response(outcome, today);
        pause.expires_after(20ms);
        co_await pause.async_wait(boost::asio::use_awaitable);
    }
    log::error("the clocks of this host and of PostgreSQL are on different days");
    co_return failure{errc::unavailable, "the clocks of the service and its database disagree about the day"};
}

} // namespace tempinbox::rate_limit
