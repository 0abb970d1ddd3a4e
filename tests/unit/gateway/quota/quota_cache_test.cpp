#include "gateway/quota/quota_cache.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");
const auto midnight = to_unix_seconds(*parse_iso8601("2026-11-22T00:00:00Z"));

} // namespace

TEST_CASE("without any answer so far the whole limit is shown", "[gateway][quota]")
{
    quota_cache cache;

    CHECK(cache.fail_open(account_id::make(), 3'000, noon) ==
          rate_limit_headers(3'000, 3'000, midnight));
}

TEST_CASE("each request that fails open lowers the last known numbers, never below zero",
          "[gateway][quota]")
{
    quota_cache cache;
    const auto account = account_id::make();
    cache.learn(account, rate_limit_headers(3'000, 2, midnight));

    CHECK(cache.fail_open(account, 3'000, noon).remaining == 1);
    CHECK(cache.fail_open(account, 3'000, noon).remaining == 0);
    CHECK(cache.fail_open(account, 3'000, noon).remaining == 0);
}

TEST_CASE("yesterday's numbers are evicted", "[gateway][quota]")
{
    quota_cache cache;
    const auto account = account_id::make();
    cache.learn(account, rate_limit_headers(3'000, 0, midnight));

    const auto rate_limit = cache.fail_open(account, 3'000, noon + std::chrono::hours(13));

    CHECK(rate_limit.remaining == 3'000);
    CHECK(rate_limit.reset == midnight + 86'400);
}

TEST_CASE("unreported usage adds up, and is reported under one id until it is stored",
          "[gateway][quota]")
{
    quota_cache cache;
    const auto account = account_id::make();
    cache.add_unreported(account, 3'000, 7, 2, noon);
    cache.add_unreported(account, 3'000, 7, 1, noon);
    REQUIRE(cache.unreported_accounts(10).size() == 1);

    const auto first = cache.next_report(account, noon).value();
    cache.add_unreported(account, 3'000, 7, 4, noon);
    const auto again = cache.next_report(account, noon).value();
    CHECK(first.units == 3);
    CHECK(again.units == 3);
    CHECK(again.id == first.id);
    CHECK(cache.unreported() == 7);

    cache.note_stored(account, first.id);
    const auto second = cache.next_report(account, noon).value();
    cache.note_stored(account, first.id);
    CHECK(second.units == 4);
    CHECK(second.id != first.id);
    CHECK(cache.unreported() == 4);

    cache.note_stored(account, second.id);
    CHECK_FALSE(cache.next_report(account, noon));
    CHECK_FALSE(cache.has_unreported());
}

TEST_CASE("usage of a day that is over is reported for that day, before that of the new day",
          "[gateway][quota]")
{
    quota_cache cache;
    const auto account = account_id::make();
    const auto next_day = noon + std::chrono::hours(13);
    cache.add_unreported(account, 3'000, 7, 5, noon);
    cache.next_report(account, noon);
    cache.add_unreported(account, 3'000, 7, 2, next_day);
    CHECK(cache.unreported() == 7);
    CHECK(cache.unreported_accounts(10).size() == 1);

    const auto old = cache.next_report(account, next_day).value();
    cache.note_stored(account, old.id);
    const auto current = cache.next_report(account, next_day).value();
    cache.note_stored(account, current.id);

    CHECK(old.units == 5);
    CHECK(old.on_day == day_of(noon));
    CHECK(current.units == 2);
    CHECK(current.on_day == old.on_day + std::chrono::days(1));
    CHECK_FALSE(cache.has_unreported());
}

TEST_CASE("unreported usage is dropped a day after its day", "[gateway][quota]")
{
    quota_cache cache;
    const auto reported = account_id::make(), pending = account_id::make(),
               current = account_id::make();
    cache.add_unreported(reported, 3'000, 7, 5, noon);
    cache.add_unreported(pending, 3'000, 7, 5, noon);

    CHECK(cache.next_report(reported, noon + std::chrono::hours(35)));
    CHECK_FALSE(cache.next_report(reported, noon + std::chrono::hours(36)));
    cache.add_unreported(current, 3'000, 7, 1, noon + std::chrono::hours(36));

    CHECK(cache.unreported() == 1);
    CHECK(cache.unreported_accounts(10).size() == 1);
}
