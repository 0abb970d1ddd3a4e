// Each event once, none skipped, whoever writes, reads and dies at the same time. Of the function
// record_events without its lock, or with a sequence in place of positions, this test has to fail.

#include "integration/webhook-dispatcher/feed_suite.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace tempinbox;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using testing::feed_suite;

namespace {

constexpr int writers = 8;
constexpr int readers_an_account = 8;
constexpr auto writing_time = 5s;
constexpr auto giving_time = 60s; // of one batch, until its outcome is known

struct event
{
    std::string id;
    std::string account;
};

// Writers with connections of their own, which are killed now and then; each batch is given again
// until its outcome is known, and some of its events once more later.
class crowd
{
public:
    crowd(std::string dsn, std::vector<std::string> accounts)
        : dsn_(std::move(dsn)),
          accounts_(std::move(accounts)),
          killer_(&crowd::kill, this)
    {
        for (unsigned i = 0; i < writers; ++i)
            writers_.emplace_back(&crowd::write, this, i);
    }
    ~crowd()
    {
        stop_writing();
        killer_.join();
    }
    crowd(const crowd&) = delete;

    void stop_writing()
    {
        is_stopping_ = true;
        for (auto& each : writers_)
            each.join();
        writers_.clear();
        is_over_ = true;
    }
    std::map<std::string, std::set<std::string>> given() const { return given_; }
    int kills() const { return kills_; }
    int given_up() const { return given_up_; }
    bool is_over() const { return is_over_; }

private:
    void write(unsigned seed)
    {
        std::mt19937 random(seed);
        std::vector<event> repeated;
        std::unique_ptr<pqxx::connection> connection;
        while (!is_stopping_) {
            std::vector<event> batch;
            for (unsigned i = 0, size = 1 + random() % 30; i < size; ++i) {
                event made{event_id::make().text(), accounts_[random() % accounts_.size()]};
                if (random() % 10 < 3)
                    repeated.push_back(made);
                batch.push_back(std::move(made));
            }
            while (repeated.size() > 20) {
                batch.push_back(repeated.front());
                repeated.erase(repeated.begin());
            }
            give(connection, batch);
            share(batch, random);
        }
    }

    // Other writers give some of the same events as well.
    void share(const std::vector<event>& batch, std::mt19937& random)
    {
        std::vector<event> taken;
        {
            const std::lock_guard lock(mutex_);
            for (const auto& each : batch)
                given_[each.account].insert(each.id);
            taken.swap(shared_);
            if (random() % 3 == 0)
                shared_ = batch;
        }
        std::unique_ptr<pqxx::connection> connection;
        if (!taken.empty())
            give(connection, taken);
    }

    void give(std::unique_ptr<pqxx::connection>& connection, const std::vector<event>& batch)
    {
        std::string rows;
        for (const auto& each : batch)
            rows += (rows.empty() ? "" : ",") + ("('" + each.id + "', '" + each.account + "')");
        const auto sql = "SELECT count(*) FROM (SELECT array_agg(id::uuid) AS ids, "
                         "array_agg(account::uuid) AS accounts FROM (VALUES " +
                         rows +
                         ") AS given (id, account)) AS batch CROSS JOIN LATERAL "
                         "webhooks.record_events(ids, accounts, ids, array_fill(1, "
                         "ARRAY[cardinality(ids)]), array_fill('{}'::bytea, "
                         "ARRAY[cardinality(ids)]), now() - interval '1 hour')";
        const auto end = steady::now() + giving_time;
        while (steady::now() < end) {
            try {
                if (!connection) {
                    connection = std::make_unique<pqxx::connection>(dsn_);
                    pqxx::nontransaction(*connection).exec("SET application_name = 'feed-writer'");
                }
                pqxx::nontransaction tx(*connection);
                tx.exec(sql);
                return;
            } catch (const std::exception&) {
                // Killed, or deadlocked without the lock: given again.
                connection.reset();
            }
        }
        ++given_up_;
    }

    void kill()
    {
        pqxx::connection connection(dsn_);
        while (!is_over_) {
            pqxx::nontransaction tx(connection);
            tx.exec("SELECT pg_sleep(0.04)");
            kills_ += static_cast<int>(
                tx.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                        "application_name = 'feed-writer' AND datname = current_database() "
                        "ORDER BY random() LIMIT 1")
                    .size());
        }
    }

    const std::string dsn_;
    const std::vector<std::string> accounts_;
    std::atomic<bool> is_stopping_{false}, is_over_{false};
    std::atomic<int> kills_{0}, given_up_{0};
    std::mutex mutex_;
    std::map<std::string, std::set<std::string>> given_;
    std::vector<event> shared_;
    std::vector<std::thread> writers_;
    std::thread killer_;
};

// Reads pages of any size and forgets some of them, as a client that broke off does.
struct reader
{
    std::string account;
    int epoch = 0;
    std::int64_t position = 0;
    std::vector<std::string> seen{};

    // Whether there was something to read.
    bool read_page(feed_suite& s, std::mt19937& random)
    {
        auto request = s.request(position, 1 + static_cast<int>(random() % 200), epoch);
        request.mutable_account()->set_account_id(account);
        const auto page = s.read(request);
        if (page.outcome() != webhooks::v1::FEED_OUTCOME_READ)
            throw std::runtime_error("a reader of " + account + " lost its place at " +
                                     std::to_string(position));
        if (page.events_size() > 0 && random() % 4 == 0)
            return true;
        for (const auto& each : page.events())
            seen.push_back(each.event_id());
        position = page.position();
        return page.events_size() > 0;
    }
};

} // namespace

TEST_CASE("every reader gets each event once, whatever dies while they are recorded",
          "[webhooks][feed][postgres]")
{
    feed_suite s;
    std::vector<std::string> accounts;
    std::vector<reader> readers;
    for (int i = 0; i < 3; ++i) {
        s.account = account_id::make();
        s.open();
        accounts.push_back(s.account.text());
        for (int n = 0; n < readers_an_account; ++n)
            readers.push_back({s.account.text(), s.epoch});
    }
    std::mt19937 random(17);
    crowd all(s.scratch.dsn(), accounts);

    const auto end = steady::now() + writing_time;
    while (steady::now() < end)
        readers[random() % readers.size()].read_page(s, random);
    all.stop_writing();
    for (auto& each : readers)
        while (each.read_page(s, random))
            ;

    const auto given = all.given();
    CHECK(all.kills() > 10);
    REQUIRE(all.given_up() == 0);
    std::size_t skipped = 0, twice = 0, of_nobody = 0;
    for (const auto& each : readers) {
        const auto& expected = given.at(each.account);
        const std::set<std::string> seen(each.seen.begin(), each.seen.end());
        twice += each.seen.size() - seen.size();
        for (const auto& id : expected)
            skipped += seen.contains(id) ? 0 : 1;
        for (const auto& id : seen)
            of_nobody += expected.contains(id) ? 0 : 1;
    }
    CHECK(skipped == 0);
    CHECK(twice == 0);
    CHECK(of_nobody == 0);
    for (const auto& row : s.scratch.execute(
             "SELECT count(*), min(position), max(position), count(DISTINCT position) FROM "
             "webhooks.feed_events GROUP BY account_id")) {
        CHECK(row[1].as<std::int64_t>() == 1);
        CHECK(row[2].as<std::int64_t>() == row[0].as<std::int64_t>());
        CHECK(row[3].as<std::int64_t>() == row[0].as<std::int64_t>());
    }
}
