#include "rate-limit/reclaim_client.hpp"

#include "common/async/reset_event.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/testing/await.hpp"
#include "unit/common/rpc/in_process_services.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::rate_limit;
using namespace std::chrono_literals;
using ratelimit::v1::ReturnBlockRequest;
using ratelimit::v1::ReturnBlockResponse;

namespace {

const day today = day_of(*parse_iso8601("2026-11-21T12:00:00Z"));

// Another replica, which answers once a test lets it.
class arranged_holder
{
public:
    arranged_holder()
    {
        services_.add(rate_limit_methods::return_block, [this](ReturnBlockRequest request) {
            return return_block(std::move(request));
        });
    }

    std::string address() const { return services_.anywhere().text(); }
    void reclaim(account_id account, day on_day = today)
    {
        boost::asio::co_spawn(testing::test_host().loop(), reclaim_and_count(account, on_day),
                              boost::asio::detached);
    }
    bool has_ended(int count)
    {
        return testing::eventually([&] { return ended == count; });
    }

    std::vector<ReturnBlockRequest> calls;
    int ended = 0; // reclaims
    bool is_away = false;
    async::reset_event may_answer{testing::test_host().executor()};

private:
    awaitable<void> reclaim_and_count(account_id account, day on_day)
    {
        co_await client.reclaim(address(), account, on_day);
        ++ended;
    }
    awaitable<result<ReturnBlockResponse>> return_block(ReturnBlockRequest request)
    {
        calls.push_back(std::move(request));
        co_await may_answer.wait_until(std::chrono::steady_clock::now() + 10s);
        if (is_away)
            co_return failure{errc::unavailable, "away"};
        co_return ReturnBlockResponse();
    }

    testing::in_process_services services_;

public:
    reclaim_client client{testing::test_host(), services_.tokens(), services_.client_settings()};
};

} // namespace

TEST_CASE("accounts that come while a holder is called share the next call, one for each day",
          "[rate-limit]")
{
    arranged_holder holder;
    holder.reclaim(account_id::make());
    REQUIRE(testing::eventually([&] { return holder.calls.size() == 1; }));
    for (int i = 0; i < 3; ++i)
        holder.reclaim(account_id::make());
    holder.reclaim(account_id::make(), today - std::chrono::days(1));

    holder.may_answer.set();

    REQUIRE(holder.has_ended(5));
    REQUIRE(holder.calls.size() == 3);
    CHECK(holder.calls[0].account_ids_size() == 1);
    CHECK(holder.calls[1].account_ids_size() == 1);
    CHECK(holder.calls[2].account_ids_size() == 3);
}

TEST_CASE("a reclaim does not wait for a holder that stays silent", "[rate-limit]")
{
    arranged_holder holder;

    holder.reclaim(account_id::make());

    CHECK(holder.has_ended(1));
    CHECK(holder.calls.size() == 1);
    holder.may_answer.set();
    testing::eventually([] { return testing::test_host().loop().poll() == 0; });
}

TEST_CASE("neither this replica nor one that just failed is called", "[rate-limit]")
{
    arranged_holder holder;
    holder.is_away = true;
    holder.may_answer.set();

    holder.reclaim(account_id::make());
    REQUIRE(holder.has_ended(1));
    holder.is_away = false;
    holder.reclaim(account_id::make());
    REQUIRE(holder.has_ended(2));
    CHECK(holder.calls.size() == 1);

    arranged_holder own;
    own.client.set_own_address(own.address());
    own.reclaim(account_id::make());
    REQUIRE(own.has_ended(1));
    CHECK(own.calls.empty());
}

namespace {

awaitable<http::client_response> nobody_there()
{
    http::client_response response;
    response.error = http::exchange_error::connect;
    co_return response;
}

} // namespace

TEST_CASE("a holder is called over TLS and shows a certificate for the name that is set",
          "[rate-limit]")
{
    testing::in_process_services network;
    auto settings = network.client_settings();
    std::vector<std::string> calls;
    settings.tls = [] { return std::shared_ptr<boost::asio::ssl::context>(); };
    settings.tls_name = "rate-limit.test";
    settings.send = [&calls](const http::client_request& outgoing) {
        calls.push_back(outgoing.url.substr(0, outgoing.url.rfind('/')) + " " + outgoing.tls_name);
        return nobody_there();
    };
    reclaim_client client(testing::test_host(), network.tokens(), settings);

    testing::await(client.reclaim("192.0.2.1:9102", account_id::make(), today));

    REQUIRE(calls.size() == 1);
    CHECK(calls[0] == "https://192.0.2.1:9102/tempinbox.ratelimit.v1.RateLimitService "
                      "rate-limit.test");
}
