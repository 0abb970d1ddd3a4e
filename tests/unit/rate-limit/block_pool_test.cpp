#include "rate-limit/block_pool.hpp"

#include "common/testing/await.hpp"
#include "unit/rate-limit/ledger_model.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <random>

using namespace tempinbox;
using namespace tempinbox::rate_limit;
using namespace std::chrono_literals;
using tempinbox::testing::ledger_model;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");

quota_request request_for(account_id account, std::int64_t units, std::int64_t limit,
                          std::int64_t version = 1)
{
    return quota_request{account, units, versioned_limit(limit, version)};
}

// Replicas on one database in memory, with a clock that a test sets.
class arranged_replicas
{
public:
    explicit arranged_replicas(int count, block_pool_settings chosen = quick())
        : ledger(day_of(noon)),
          clock(noon),
          chosen_(chosen)
    {
        for (int i = 0; i < count; ++i)
            add();
    }
    ~arranged_replicas()
    {
        is_database_away = false;
        let_go();
        for (auto& [name, pool] : pools)
            testing::await(pool->close(1s));
        testing::eventually([] { return testing::test_host().loop().poll() == 0; });
    }

    static block_pool_settings quick()
    {
        block_pool_settings chosen;
        chosen.idle_time = 0ms;
        return chosen;
    }

    block_pool& add()
    {
        const auto name = "127.0.0.1:" + std::to_string(++last_port_);
        return *pools
                    .emplace(name, std::make_unique<block_pool>(
                                       testing::test_host(), clock,
                                       [this, name](std::vector<block_sync_request> reported) {
                                           return sync(name, std::move(reported));
                                       },
                                       [this](std::string holder, account_id account, day on_day) {
                                           return reclaim(std::move(holder), account, on_day);
                                       },
                                       chosen_))
                    .first->second;
    }

    // Like kill -9: its coroutines never resume.
    void kill(const std::string& name)
    {
        dead.push_back(std::move(pools.at(name)));
        pools.erase(name);
    }

    decision take(block_pool& pool, const quota_request& request)
    {
        std::vector<quota_request> requests{request};
        return testing::await(pool.take(std::move(requests))).front();
    }
    bool has_stalled() const { return !stalled_.empty(); }
    // Ends the statements and reclaims that are stalled.
    void let_go()
    {
        is_stalled = false;
        for (const auto& each : stalled_)
            each->set();
        stalled_.clear();
    }
    block_pool& pool(int number) { return *pools.at("127.0.0.1:" + std::to_string(number)); }

    ledger_model ledger;
    manual_clock clock;
    std::map<std::string, std::unique_ptr<block_pool>> pools;
    std::vector<std::unique_ptr<block_pool>> dead;
    int statements = 0;
    std::vector<block_sync> synced; // the statements' actions, in order
    bool is_database_away = false;
    bool is_stalled = false; // new statements do not end
    enum class way { open, lost, silent } between_replicas = way::open;

private:
    awaitable<void> stall()
    {
        const auto gate = std::make_shared<async::reset_event>(testing::test_host().executor());
        stalled_.push_back(gate);
        co_await gate->wait_until(std::chrono::steady_clock::now() + 10s);
    }

    awaitable<std::vector<block_sync_result>> sync(std::string holder,
                                                   std::vector<block_sync_request> reported)
    {
        co_await boost::asio::post(testing::test_host().loop(), boost::asio::use_awaitable);
        if (is_database_away)
            throw dependency_error("away");
        if (is_stalled)
            co_await stall();
        ++statements;
        std::vector<block_sync_result> results;
        for (const auto& each : reported) {
            synced.push_back(each.action);
            results.push_back(ledger.sync(each, holder));
        }
        co_return results;
    }

    awaitable<void> reclaim(std::string holder, account_id account, day on_day)
    {
        if (between_replicas == way::silent)
            co_await stall();
        const auto found = pools.find(holder);
        if (found != pools.end() && between_replicas == way::open)
            co_await found->second->give_back(account, on_day);
    }

    block_pool_settings chosen_;
    std::vector<std::shared_ptr<async::reset_event>> stalled_;
    int last_port_ = 0;
};

awaitable<void> take_into(block_pool& pool, quota_request request, std::int64_t& granted, int& done)
{
    std::vector<quota_request> requests{request};
    const auto made = co_await pool.take(std::move(requests));
    granted += made.front().granted;
    ++done;
}

} // namespace

TEST_CASE("request 3,000 passes and 3,001 does not, for few statements", "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make();

    for (int i = 1; i <= 3'000; ++i) {
        const auto made = all.take(all.pool(1), request_for(ann, 1, 3'000));
        REQUIRE(made.granted == 1);
        REQUIRE(made.remaining == 3'000 - i);
    }
    const auto past = all.take(all.pool(1), request_for(ann, 1, 3'000));

    CHECK(past.granted == 0);
    CHECK(past.undecided == 0);
    CHECK(past.remaining == 0);
    CHECK(all.statements < 120);
}

TEST_CASE("those who wait for one account share a statement", "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make();
    std::int64_t granted = 0;
    int done = 0;

    for (int i = 0; i < 50; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              take_into(all.pool(1), request_for(ann, 1, 3'000), granted, done),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return done == 50; }));

    CHECK(granted == 50);
    CHECK(all.statements <= 2);
}

TEST_CASE("units held by another replica are reclaimed before anyone is refused", "[rate-limit]")
{
    arranged_replicas all(2);
    const auto ann = account_id::make();
    CHECK(all.take(all.pool(1), request_for(ann, 1, 3'000)).remaining == 2'999);

    std::int64_t granted = 1, last = 2'999;
    for (int i = 0; i < 2'999; ++i) {
        const auto made = all.take(all.pool(2), request_for(ann, 1, 3'000));
        granted += made.granted;
        CHECK(made.remaining == last - 1);
        last = made.remaining;
    }

    CHECK(granted == 3'000);
    CHECK(all.take(all.pool(1), request_for(ann, 1, 3'000)).granted == 0);
    CHECK(all.take(all.pool(2), request_for(ann, 1, 3'000)).granted == 0);
}

TEST_CASE("a block that was full when it reported and is spent since is no reason to refuse",
          "[rate-limit]")
{
    for (std::int64_t limit : {400, 450, 500, 700, 1'000}) {
        arranged_replicas all(1);
        const auto ann = account_id::make();
        std::int64_t granted = 0;
        int done = 0, requested = 0;
        for (int round = 0; granted < limit && round < 1'000; ++round) {
            for (int i = 0; i < 7; ++i, ++requested)
                boost::asio::co_spawn(
                    testing::test_host().loop(),
                    take_into(all.pool(1), request_for(ann, 1, limit), granted, done),
                    boost::asio::detached);
            REQUIRE(testing::eventually([&] { return done == requested; }));
            REQUIRE(granted == std::min<std::int64_t>(requested, limit));
        }
        CHECK(granted == limit);
    }
}

TEST_CASE("a changed plan is in force with the next request, both ways", "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make();
    for (int i = 0; i < 5; ++i)
        all.take(all.pool(1), request_for(ann, 1, 3'000));

    const auto lowered = all.take(all.pool(1), request_for(ann, 1, 4, 2));
    const auto older = all.take(all.pool(1), request_for(ann, 1, 3'000, 1));
    const auto raised = all.take(all.pool(1), request_for(ann, 1, 10'000, 3));

    CHECK(lowered.granted == 0);
    CHECK(lowered.limit == 4);
    CHECK(lowered.remaining == 0);
    CHECK(older.granted == 0);
    CHECK(raised.granted == 1);
    CHECK(raised.remaining == 9'994);
}

TEST_CASE("with the database away what is held is spent, then requests are undecided",
          "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make();
    all.take(all.pool(1), request_for(ann, 1, 500));
    all.is_database_away = true;

    const auto held = all.take(all.pool(1), request_for(ann, 9, 500));
    const auto more = all.take(all.pool(1), request_for(ann, 1, 500));
    const auto stranger = all.take(all.pool(1), request_for(account_id::make(), 1, 500));
    all.is_database_away = false;
    const auto later = all.take(all.pool(1), request_for(ann, 1, 500));

    CHECK(held.granted == 9);
    CHECK(more.undecided == 1);
    CHECK_FALSE(stranger.is_known);
    CHECK(later.granted == 1);
    CHECK(later.remaining == 500 - 11);
}

TEST_CASE("idle blocks go back, and all at the end", "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make(), bob = account_id::make();
    all.take(all.pool(1), request_for(ann, 1, 3'000));

    all.pool(1).sweep();
    REQUIRE(testing::eventually([&] { return all.pool(1).size() == 0; }));
    CHECK(all.ledger.days.at({ann, all.ledger.today}).outstanding == 0);
    CHECK(all.ledger.days.at({ann, all.ledger.today}).used == 1);

    all.take(all.pool(1), request_for(bob, 1, 3'000));
    testing::await(all.pool(1).close(1s));
    CHECK(all.ledger.blocks.empty());
}

TEST_CASE("a block is renewed at half of its TTL, and not before", "[rate-limit]")
{
    block_pool_settings chosen;
    chosen.lease_time = 1s;
    arranged_replicas all(1, chosen);
    all.take(all.pool(1), request_for(account_id::make(), 1, 3'000));
    const auto began = std::chrono::steady_clock::now();

    REQUIRE(testing::eventually([&] {
        all.pool(1).sweep();
        return all.synced.size() == 2;
    }));

    CHECK(std::chrono::steady_clock::now() - began >= 400ms);
    CHECK(all.synced.back() == block_sync::report);
    CHECK(all.pool(1).size() == 1);
}

TEST_CASE("a TTL is renewed and an idle block goes back while requests always wait for a statement",
          "[rate-limit]")
{
    block_pool_settings chosen;
    chosen.idle_time = GENERATE(0ms, 10'000ms);
    chosen.lease_time = chosen.idle_time == 0ms ? 30'000ms : 20ms;
    std::int64_t granted = 0; // outlive the replicas: the call ends when they do
    int done = 0;
    arranged_replicas all(1, chosen);
    all.take(all.pool(1), request_for(account_id::make(), 1, 3'000));
    all.is_stalled = true;
    boost::asio::co_spawn(
        testing::test_host().loop(),
        take_into(all.pool(1), request_for(account_id::make(), 1, 3'000), granted, done),
        boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.has_stalled(); }));
    all.is_stalled = false;

    REQUIRE(testing::eventually([&] {
        all.pool(1).sweep();
        return all.synced.size() >= 2;
    }));

    CHECK(all.has_stalled());
    CHECK(all.synced[1] == (chosen.idle_time == 0ms ? block_sync::close : block_sync::report));
}

TEST_CASE("a replica in need reclaims again from others when it has been given some before",
          "[rate-limit]")
{
    auto chosen = arranged_replicas::quick();
    chosen.timeout = 5s;
    arranged_replicas all(2, chosen);
    auto& in_need = all.pool(1);
    auto& other = all.pool(2);
    const auto ann = account_id::make();
    // At first reclaims are lost. Then a holder is not asked again for five seconds, except in
    // need.
    all.between_replicas = arranged_replicas::way::lost;
    CHECK(all.take(other, request_for(ann, 1, 1'000)).granted == 1);
    CHECK(all.take(in_need, request_for(ann, 1, 1'000)).granted == 1);

    all.between_replicas = arranged_replicas::way::open;
    CHECK(all.take(in_need, request_for(ann, 980, 1'000)).granted ==
          980); // 19 of the other's 20 are back
    all.between_replicas = arranged_replicas::way::lost;
    CHECK(all.take(other, request_for(ann, 1, 1'000)).granted == 1);
    CHECK(all.ledger.days.at({ann, all.ledger.today}).outstanding > 1);
    all.between_replicas = arranged_replicas::way::open;
    const auto rest = all.take(in_need, request_for(ann, 17, 1'000));

    CHECK(rest.granted == 17);
    CHECK(all.take(in_need, request_for(ann, 1, 1'000)).granted == 0);
}

TEST_CASE("holders that do not answer are asked all at once", "[rate-limit]")
{
    // 100 ms for each, one after another, would take twice the time there is.
    constexpr int holders = 100;
    auto chosen = arranged_replicas::quick();
    chosen.timeout = 5s;
    arranged_replicas all(holders + 1, chosen);
    const auto ann = account_id::make();
    all.between_replicas = arranged_replicas::way::lost;
    for (int i = 1; i <= holders; ++i)
        CHECK(all.take(all.pool(i), request_for(ann, 1, 1'000'000)).granted == 1);
    all.between_replicas = arranged_replicas::way::silent;

    const auto made = all.take(all.pool(holders + 1), request_for(ann, 1, 1'000'000));

    CHECK(made.granted == 1);
}

TEST_CASE("the number of accounts held is bounded", "[rate-limit]")
{
    auto chosen = arranged_replicas::quick();
    chosen.accounts = 10;
    arranged_replicas all(1, chosen);

    for (int i = 0; i < 100; ++i)
        CHECK(all.take(all.pool(1), request_for(account_id::make(), 1, 3'000)).granted == 1);

    CHECK(all.pool(1).size() <= 11);
}

TEST_CASE("requests in flight over midnight are counted once", "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make();
    const day before = all.ledger.today;
    all.clock.set(noon + 11h + 59min + 59s);
    all.take(all.pool(1), request_for(ann, 1, 3'000));

    // This clock is ahead of the database's: nothing is granted until they agree.
    all.clock.advance(1s);
    std::int64_t granted = 0;
    int done = 0;
    boost::asio::co_spawn(testing::test_host().loop(),
                          take_into(all.pool(1), request_for(ann, 1, 3'000), granted, done),
                          boost::asio::detached);
    all.pool(1).sweep();
    REQUIRE(testing::eventually([&] { return all.ledger.blocks.empty(); }));
    CHECK(done == 0);
    all.ledger.today += std::chrono::days(1);
    REQUIRE(testing::eventually([&] { return done == 1; }));

    CHECK(granted == 1);
    CHECK(all.take(all.pool(1), request_for(ann, 1, 3'000)).remaining == 2'998);
    CHECK(all.ledger.days.at({ann, before}).used == 1);
}

TEST_CASE("a request on a clock behind the database's waits until they agree", "[rate-limit]")
{
    arranged_replicas all(1);
    const auto ann = account_id::make();
    all.ledger.today += std::chrono::days(1);
    std::int64_t granted = 0;
    int done = 0;

    boost::asio::co_spawn(testing::test_host().loop(),
                          take_into(all.pool(1), request_for(ann, 1, 3'000), granted, done),
                          boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.statements > 0; }));
    all.clock.advance(12h);
    REQUIRE(testing::eventually([&] { return done == 1; }));

    CHECK(granted == 1);
    CHECK(all.ledger.days.size() == 1);
}

TEST_CASE("replicas killed, added and reached in any order admit at most the limit and lose at "
          "most a block a kill",
          "[rate-limit]")
{
    const auto seed = GENERATE(range(1u, 9u));
    std::mt19937 random(seed);
    const auto roll = [&random](int sides) {
        return std::uniform_int_distribution<int>(0, sides - 1)(random);
    };
    arranged_replicas all(3);
    const auto ann = account_id::make();
    constexpr std::int64_t limit = 700, block_size = 14;
    std::int64_t admitted = 0, requested = 0;
    int done = 0, kills = 0;

    for (int round = 0; round < 60; ++round) {
        for (int i = roll(20); i >= 0; --i) {
            auto& pool =
                *std::next(all.pools.begin(), roll(static_cast<int>(all.pools.size())))->second;
            boost::asio::co_spawn(testing::test_host().loop(),
                                  take_into(pool, request_for(ann, 1, limit), admitted, done),
                                  boost::asio::detached);
            ++requested;
        }
        REQUIRE(testing::eventually([&] { return done == requested; }));
        REQUIRE(admitted <= limit);
        if (roll(12) == 0) {
            ++kills;
            all.kill(all.pools.begin()->first);
            all.add();
        }
        if (roll(5) == 0)
            all.ledger.write_off_all();
    }
    while (all.take(*all.pools.begin()->second, request_for(ann, 1, limit)).granted > 0)
        ++admitted;

    CAPTURE(kills);
    CHECK(admitted <= limit);
    CHECK(admitted >= limit - kills * block_size);
}
