#include "rate-limit/block.hpp"

#include "unit/rate-limit/ledger_model.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <random>

using namespace tempinbox;
using namespace tempinbox::rate_limit;
using tempinbox::testing::ledger_model;

namespace {

const account_id ann = account_id::make();
const day today = day_of(*parse_iso8601("2026-11-21T12:00:00Z"));

block make_block(std::int64_t limit, std::int64_t version = 1)
{
    return block(ann, today, uuid::make_v7(), versioned_limit(limit, version));
}

void sync(block& units, ledger_model& ledger, block_sync action, const std::string& holder = "a:1")
{
    const auto request = units.report(action);
    units.apply(request, ledger.sync(request, holder));
}

} // namespace

TEST_CASE("nothing is spent that was not granted", "[rate-limit]")
{
    ledger_model ledger(today);
    auto units = make_block(3'000);
    CHECK(units.spend(1) == 0);

    sync(units, ledger, block_sync::grow);

    CHECK(units.unspent() == 60);
    CHECK(units.spend(50) == 50);
    CHECK(units.take_remaining() == 2'950);
    CHECK(units.spend(50) == 10);
    CHECK(units.spend(1) == 0);
    CHECK(units.take_remaining() == 2'940);
}

TEST_CASE("blocks are 2 % of the limit, a quarter of what is left, and single units near the limit",
          "[rate-limit]")
{
    struct row
    {
        std::int64_t limit, left, block_size;
    };
    const row table[] = {
        {3'000, 3'000, 60}, {3'000, 240, 60}, {3'000, 100, 25},      {3'000, 7, 1},
        {3'000, 1, 1},      {7, 7, 1},        {10'000, 10'000, 200}, {1'000'000, 1'000'000, 1'000}};
    for (const auto& each : table) {
        CAPTURE(each.limit, each.left);
        CHECK(ledger_model::block_size(each.limit, each.left) == each.block_size);
    }
}

TEST_CASE("what is returned can be had by another, what was spent not", "[rate-limit]")
{
    ledger_model ledger(today);
    auto first = make_block(3'000), second = make_block(3'000);
    sync(first, ledger, block_sync::grow);
    first.spend(7);

    sync(first, ledger, block_sync::close);
    sync(second, ledger, block_sync::grow, "b:1");

    CHECK(ledger.days.at({ann, today}).used == 7);
    CHECK(ledger.days.at({ann, today}).outstanding == 60);
    CHECK(second.take_remaining() == 2'993);
}

TEST_CASE("a repeated report counts once, and a lost response's units turn up in the next",
          "[rate-limit]")
{
    ledger_model ledger(today);
    auto units = make_block(3'000);
    sync(units, ledger, block_sync::grow);
    units.spend(60);

    ledger.sync(units.report(block_sync::grow), "a:1"); // the response is lost
    sync(units, ledger, block_sync::report);

    CHECK(ledger.days.at({ann, today}).used == 60);
    CHECK(units.unspent() == 60);
}

TEST_CASE("a block written off counts as used, and its holder gives back what it did not spend",
          "[rate-limit]")
{
    ledger_model ledger(today);
    auto units = make_block(3'000);
    sync(units, ledger, block_sync::grow);

    ledger.write_off_all();
    CHECK(ledger.days.at({ann, today}).used == 60);
    units.spend(5); // still its own
    sync(units, ledger, block_sync::close);

    CHECK(ledger.days.at({ann, today}).used == 5);
    CHECK(ledger.days.at({ann, today}).outstanding == 0);
}

TEST_CASE("a newer limit stops spending until the database has said what it means", "[rate-limit]")
{
    ledger_model ledger(today);
    auto units = make_block(3'000);
    sync(units, ledger, block_sync::grow);
    units.spend(20);

    units.update_limit(versioned_limit(10, 2));
    CHECK(units.spend(1) == 0);
    sync(units, ledger, block_sync::report);

    CHECK(units.unspent() == 0);
    CHECK(units.limit() == 10);
    CHECK(units.take_remaining() == 0);
    units.update_limit(versioned_limit(3'000, 3));
    sync(units, ledger, block_sync::grow);
    CHECK(units.spend(1) == 1);
    CHECK(units.take_remaining() == 2'979);
}

TEST_CASE("a newer version of the same limit stops nothing", "[rate-limit]")
{
    ledger_model ledger(today);
    auto units = make_block(3'000);
    sync(units, ledger, block_sync::grow);

    units.update_limit(versioned_limit(3'000, 2));

    CHECK(units.spend(1) == 1);
}

TEST_CASE("what remains counts what others hold as used, and never rises", "[rate-limit]")
{
    ledger_model ledger(today);
    auto first = make_block(3'000), second = make_block(3'000);
    sync(first, ledger, block_sync::grow);
    sync(second, ledger, block_sync::grow, "b:1");
    CHECK(second.take_remaining() == 2'940);

    sync(first, ledger, block_sync::close);
    sync(second, ledger, block_sync::report, "b:1");

    CHECK(second.take_remaining() == 2'940);
    second.spend(60);
    CHECK(second.take_remaining() == 2'940);
}

TEST_CASE("usage that was stored beside it leaves a block nothing past the limit", "[rate-limit]")
{
    ledger_model ledger(today);
    auto units = make_block(10);
    sync(units, ledger, block_sync::grow);
    units.spend(1);

    ledger.days.at({ann, today}).used += 20;
    sync(units, ledger, block_sync::grow);

    CHECK(ledger.days.at({ann, today}).used == 21);
    CHECK(units.unspent() == 0);
    CHECK(units.take_remaining() == 0);
}

TEST_CASE("a block of another day grants nothing", "[rate-limit]")
{
    ledger_model ledger(today);
    block early(ann, today + std::chrono::days(1), uuid::make_v7(), versioned_limit(10, 1));
    sync(early, ledger, block_sync::grow);
    CHECK(early.unspent() == 0);
    CHECK(ledger.days.empty());

    auto late = make_block(10);
    sync(late, ledger, block_sync::grow);
    ledger.today += std::chrono::days(1);
    sync(late, ledger, block_sync::grow);
    CHECK(late.spend(2) == 1);
    sync(late, ledger, block_sync::close);
    CHECK(ledger.days.at({ann, today}).used == 1);
}

// Replicas are killed and made anew, lose responses, move to other clocks, and pass the account
// around as its position in the hash changes. Whatever happens, no more than the limit passes, and
// no more is lost than the blocks of the killed.
TEST_CASE("random lives of replicas admit at most the limit and lose at most a block a kill",
          "[rate-limit]")
{
    const auto seed = GENERATE(range(1u, 60u));
    std::mt19937 random(seed);
    const auto roll = [&random](int sides) {
        return std::uniform_int_distribution<int>(0, sides - 1)(random);
    };
    const std::int64_t limit = 1 + roll(4'000);
    const std::int64_t block_size = std::max<std::int64_t>(1, limit / 50);
    ledger_model ledger(today);
    std::vector<std::optional<block>> replicas(static_cast<std::size_t>(1 + roll(5)));
    std::map<day, std::int64_t> admitted, lost;
    std::size_t owner = 0;

    const auto close_all = [&] {
        for (auto& each : replicas)
            if (each) {
                ledger.sync(each->report(block_sync::close), "x:1");
                each.reset();
            }
    };
    for (int step = 0; step < 6'000; ++step) {
        auto& units = replicas[owner];
        if (!units || units->on_day() != ledger.today) {
            if (units)
                ledger.sync(units->report(block_sync::close), "x:1");
            units.emplace(ann, ledger.today, uuid::make_v7(), versioned_limit(limit, 1));
        }
        const auto got = units->spend(1 + roll(4));
        admitted[ledger.today] += got;
        if (got == 0) {
            const auto request = units->report(block_sync::grow);
            const auto result = ledger.sync(request, "x:1");
            if (roll(20) > 0) // else the response is lost
                units->apply(request, result);
        }
        switch (roll(400)) {
        case 0: // kill -9
            lost[units->on_day()] += block_size;
            units.reset();
            break;
        case 1: // another replica's turn
        case 2:
            owner = static_cast<std::size_t>(roll(static_cast<int>(replicas.size())));
            break;
        case 3: // TTLs end, whoever lives
            ledger.write_off_all();
            break;
        case 4: // idle
            ledger.sync(units->report(block_sync::close), "x:1");
            units.reset();
            break;
        case 5:
            if (roll(8) == 0)
                ledger.today += std::chrono::days(1);
            break;
        default:
            break;
        }
        for (const auto& [date, count] : admitted)
            REQUIRE(count <= limit);
        for (const auto& [at, row] : ledger.days)
            REQUIRE(row.used + row.outstanding <= limit);
    }

    // After all units are given back and spent to the end, nothing but the losses is missing.
    close_all();
    block last(ann, ledger.today, uuid::make_v7(), versioned_limit(limit, 1));
    for (bool is_granted = true; is_granted;) {
        sync(last, ledger, block_sync::grow);
        const auto got = last.spend(limit);
        is_granted = got > 0;
        admitted[ledger.today] += got;
    }
    CHECK(admitted[ledger.today] <= limit);
    CHECK(admitted[ledger.today] >= limit - lost[ledger.today]);
}
