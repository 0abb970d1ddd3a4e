#include "gateway/quota/quota_client.hpp"

#include "common/testing/await.hpp"
#include "unit/gateway/quota/fake_rate_limit.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::fake_rate_limit;
using testing::running_quota_client;

namespace {

plans::account_state account_with(std::int64_t limit)
{
    plans::account_state state;
    state.account = account_id::make();
    state.limits.api_access = true;
    state.limits.requests_per_day = limit;
    state.version = 1;
    return state;
}

awaitable<void> take_into(quota_client& client, plans::account_state account,
                          std::vector<quota_decision>& decisions)
{
    const auto decision = co_await client.take(account);
    decisions.push_back(decision);
}

// Takes units without waiting.
void take_async(quota_client& client, const plans::account_state& account,
                std::vector<quota_decision>& decisions, int times = 1)
{
    for (int i = 0; i < times; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), take_into(client, account, decisions),
                              boost::asio::detached);
}

} // namespace

TEST_CASE("request 3,000 passes and 3,001 does not", "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(3'000);
    service.used[account.account.text()] = 2'999;

    const auto last = testing::await(client->take(account));
    const auto past = testing::await(client->take(account));

    CHECK(last.is_granted);
    CHECK(last.rate_limit == rate_limit_headers(3'000, 0, service.reset));
    CHECK_FALSE(past.is_granted);
    CHECK_FALSE(past.is_fail_open);
    CHECK(past.rate_limit == rate_limit_headers(3'000, 0, service.reset));
}

TEST_CASE("while one call is in flight further requests are batched into the next",
          "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto ann = account_with(100), bob = account_with(100);
    std::vector<quota_decision> decisions;
    service.hold();

    take_async(*client, ann, decisions);
    REQUIRE(testing::eventually([&] { return service.calls.size() == 1; }));
    take_async(*client, ann, decisions, 3);
    take_async(*client, bob, decisions, 2);
    service.release();
    REQUIRE(testing::eventually([&] { return decisions.size() == 6; }));

    REQUIRE(service.calls.size() == 2);
    REQUIRE(service.calls[1].items_size() == 2);
    CHECK(service.calls[1].items(0).units() == 3);
    CHECK(service.calls[1].items(1).units() == 2);
    CHECK(service.used[ann.account.text()] == 4);
}

TEST_CASE("each request of a call sees what was left after it", "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(4);
    std::vector<quota_decision> decisions;
    service.hold();
    take_async(*client, account, decisions);
    REQUIRE(testing::eventually([&] { return service.calls.size() == 1; }));
    take_async(*client, account, decisions, 4);
    service.release();
    REQUIRE(testing::eventually([&] { return decisions.size() == 5; }));

    std::vector<std::int64_t> left;
    std::vector<bool> granted;
    for (const auto& decision : decisions) {
        left.push_back(decision.rate_limit.remaining);
        granted.push_back(decision.is_granted);
    }
    CHECK(left == std::vector<std::int64_t>{3, 2, 1, 0, 0});
    CHECK(granted == std::vector<bool>{true, true, true, true, false});
}

TEST_CASE(
    "without a response in 250 ms a request fails open, and the late response still counts it once",
    "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    testing::await(client->take(account));
    service.hold();

    const auto began = std::chrono::steady_clock::now();
    const auto decision = testing::await(client->take(account));
    const auto took = std::chrono::steady_clock::now() - began;

    CHECK(decision.is_granted);
    CHECK(decision.is_fail_open);
    CHECK(decision.rate_limit.remaining == 98);
    CHECK(took >= 240ms);
    CHECK(took < 4s); // the call itself may take 5 s

    service.release();
    REQUIRE(testing::eventually([&] { return service.used[account.account.text()] == 2; }));
    testing::await(client->take(account));
    CHECK(service.used[account.account.text()] == 3);
}

TEST_CASE("a refused call fails open at once, and the next requests report the usage",
          "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    service.is_broken = true;

    const auto decision = testing::await(client->take(account));
    testing::await(client->take(account));
    service.is_broken = false;
    const auto next = testing::await(client->take(account));

    CHECK(decision.is_fail_open);
    CHECK(decision.rate_limit.remaining == 100);
    CHECK_FALSE(next.is_fail_open);
    // The first report was on its way when its call failed; the second follows once the first is
    // known to be stored.
    CHECK(next.rate_limit.remaining == 98);
    for (int i = 0; i < 3; ++i)
        testing::await(client->take(account));
    CHECK(service.used[account.account.text()] == 2 + 4);
    CHECK(service.stored_reports.size() == 2);
}

TEST_CASE("usage is reported until it is stored, also to the replica that comes after one that was "
          "killed",
          "[gateway][quota]")
{
    fake_rate_limit killed;
    fake_rate_limit next(killed, 2);
    running_quota_client client(killed);
    const auto account = account_with(100);
    killed.is_broken = true;
    testing::await(client->take(account));
    killed.is_broken = false;
    killed.is_storing_nothing = true;
    testing::await(client->take(account));
    const auto reported = killed.calls.back().items(0).debt();

    client->set_replicas({next.address});
    testing::await(client->take(account));
    testing::await(client->take(account));
    testing::await(client->take(account));

    CHECK(reported.units() == 1);
    REQUIRE(next.calls.size() == 3);
    CHECK(next.calls[0].items(0).debt().debt_id() == reported.debt_id());
    CHECK(next.calls[1].items(0).debt().debt_id() == reported.debt_id());
    CHECK_FALSE(next.calls[2].items(0).has_debt());
    CHECK(next.used[account.account.text()] == 1 + 3);
}

TEST_CASE("usage is reported without any further request", "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    service.is_broken = true;
    testing::await(client->take(account));
    service.is_broken = false;

    client->start();

    CHECK(testing::eventually([&] { return service.used[account.account.text()] == 1; }));
}

TEST_CASE("at the end unreported usage is flushed", "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    service.is_broken = true;
    testing::await(client->take(account));
    service.is_broken = false;

    testing::await(client->flush(5s));

    CHECK(service.used[account.account.text()] == 1);
}

TEST_CASE(
    "a request that was queued for longer than the timeout fails open and is unreported usage",
    "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    std::vector<quota_decision> decisions;
    service.hold();

    take_async(*client, account, decisions);
    REQUIRE(testing::eventually([&] { return decisions.size() == 1; }));
    take_async(*client, account, decisions, 20);
    REQUIRE(testing::eventually([&] { return decisions.size() == 21; }));
    service.release();
    REQUIRE(testing::eventually([&] { return service.used[account.account.text()] >= 21; }));
    testing::await(client->take(account));

    CHECK(service.used[account.account.text()] == 22);
}

TEST_CASE("another replica is asked at once when one fails, and takes over", "[gateway][quota]")
{
    fake_rate_limit first;
    fake_rate_limit second(first, 2);
    running_quota_client client(first, {first.address, second.address});
    const auto account = account_with(100);
    const bool is_first = rendezvous_score(account.account, "127.0.0.1:1") >
                          rendezvous_score(account.account, "127.0.0.1:2");
    auto& owner = is_first ? first : second;
    auto& other = is_first ? second : first;
    owner.is_broken = true;

    const auto failed = testing::await(client->take(account));
    const auto taken_over = testing::await(client->take(account));

    CHECK_FALSE(failed.is_fail_open);
    CHECK_FALSE(taken_over.is_fail_open);
    CHECK(other.used[account.account.text()] == 2);
}

TEST_CASE("replicas that come are asked and those that go are not", "[gateway][quota]")
{
    fake_rate_limit first;
    fake_rate_limit second(first, 2);
    running_quota_client client(first);
    const auto account = account_with(100);
    testing::await(client->take(account));

    client->set_replicas({second.address});
    testing::await(client->take(account));

    CHECK(first.used[account.account.text()] == 1);
    CHECK(second.used[account.account.text()] == 1);
}

TEST_CASE("requests that rate-limit cannot decide fail open at once and are unreported usage",
          "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    service.is_undecided = true;

    const auto unjudged = testing::await(client->take(account));
    service.is_undecided = false;
    const auto judged = testing::await(client->take(account));

    CHECK(unjudged.is_fail_open);
    CHECK(unjudged.rate_limit.remaining == 100);
    CHECK_FALSE(judged.is_fail_open);
    CHECK(judged.rate_limit.remaining == 98);
}

TEST_CASE("units that were granted while the rest was undecided are not unreported usage",
          "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    const auto account = account_with(100);
    std::vector<quota_decision> decisions;
    service.hold();
    take_async(*client, account_with(100), decisions);
    REQUIRE(testing::eventually([&] { return service.calls.size() == 1; }));
    take_async(*client, account, decisions, 10);
    service.block_left = 4; // one for the call under way
    service.release();
    REQUIRE(testing::eventually([&] { return decisions.size() == 11; }));

    CHECK(service.used[account.account.text()] == 3);
    service.block_left.reset();
    testing::await(client->flush(5s));

    REQUIRE(service.calls.back().items(0).has_debt());
    CHECK(service.calls.back().items(0).debt().units() == 7);
    CHECK(service.used[account.account.text()] == 10);
}

TEST_CASE("what remains never rises within a day and a limit", "[gateway][quota]")
{
    fake_rate_limit service;
    running_quota_client client(service);
    auto account = account_with(100);
    service.used[account.account.text()] = 50;
    const auto before = testing::await(client->take(account));

    service.used[account.account.text()] = 0;
    const auto after = testing::await(client->take(account));
    account.limits.requests_per_day = 200;
    const auto upgraded = testing::await(client->take(account));

    CHECK(before.rate_limit.remaining == 49);
    CHECK(after.rate_limit.remaining == 49);
    CHECK(upgraded.rate_limit.remaining == 198);
}

TEST_CASE("accounts spread over replicas, and few move when one is added", "[gateway][quota]")
{
    const std::vector<std::string> replicas{"a:1", "b:1", "c:1", "d:1"};
    std::map<std::string, int> accounts_of;
    int moved = 0;
    for (int i = 0; i < 4'000; ++i) {
        const auto account = account_id::make();
        const auto best = [&](std::size_t count) {
            return *std::max_element(
                replicas.begin(), replicas.begin() + static_cast<std::ptrdiff_t>(count),
                [&](const auto& a, const auto& b) {
                    return rendezvous_score(account, a) < rendezvous_score(account, b);
                });
        };
        ++accounts_of[best(4)];
        moved += best(3) != best(4) ? 1 : 0;
    }

    for (const auto& [replica, count] : accounts_of)
        CHECK(std::abs(count - 1'000) < 150);
    CHECK(accounts_of.size() == 4);
    CHECK(std::abs(moved - 1'000) < 150);
}

namespace {

awaitable<http::client_response> nobody_there()
{
    http::client_response response;
    response.error = http::exchange_error::connect;
    co_return response;
}

} // namespace

TEST_CASE("a replica that a name led to shows a certificate for that name", "[gateway][quota]")
{
    testing::in_process_services network;
    auto settings = network.client_settings();
    std::vector<std::string> calls;
    settings.tls = [] { return std::shared_ptr<boost::asio::ssl::context>(); };
    settings.send = [&calls](const http::client_request& outgoing) {
        calls.push_back(outgoing.url.substr(0, outgoing.url.rfind('/')) + " " + outgoing.tls_name);
        return nobody_there();
    };
    quota_client client(testing::test_host(), {host_port("rate-limit.test", 9102)},
                        network.tokens(), settings);

    client.set_replicas({rpc::replica(host_port("192.0.2.1", 9102), "rate-limit.test")});
    testing::await(client.take(account_with(10)));

    REQUIRE_FALSE(calls.empty());
    CHECK(calls.front() == "https://192.0.2.1:9102/tempinbox.ratelimit.v1.RateLimitService "
                           "rate-limit.test");
}
