#include "gateway/quota/quota_book.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");
const auto midnight = to_unix_seconds(*parse_iso8601("2026-11-22T00:00:00Z"));

} // namespace

TEST_CASE("without any answer so far the whole limit is shown", "[gateway][quota]")
{
    quota_book book;

    CHECK(book.let_through(account_id::make(), 3'000, noon) == quota_numbers(3'000, 3'000, midnight));
}

TEST_CASE("the last known numbers are lowered by each request let through, and never below zero", "[gateway][quota]")
{
    quota_book book;
    const auto account = account_id::make();
    book.learn(account, quota_numbers(3'000, 2, midnight));

    CHECK(book.let_through(account, 3'000, noon).remaining == 1);
    CHECK(book.let_through(account, 3'000, noon).remaining == 0);
    CHECK(book.let_through(account, 3'000, noon).remaining == 0);
}

TEST_CASE("yesterday's numbers are forgotten", "[gateway][quota]")
{
    quota_book book;
    const auto account = account_id::make();
    book.learn(account, quota_numbers(3'000, 0, midnight));

    const auto numbers = book.let_through(account, 3'000, noon + std::chrono::hours(13));

    CHECK(numbers.remaining == 3'000);
    CHECK(numbers.reset == midnight + 86'400);
}

TEST_CASE("debts add up, are taken once, and end with their day", "[gateway][quota]")
{
    quota_book book;
    const auto account = account_id::make();
    book.owe(account, 3'000, 7, 2, noon);
    book.owe(account, 3'000, 7, 1, noon);

    REQUIRE(book.debtors(10).size() == 1);
    CHECK(book.take_debt(account, noon) == 3);
    CHECK(book.take_debt(account, noon) == 0);
    CHECK_FALSE(book.has_debts());

    book.owe(account, 3'000, 7, 5, noon);
    CHECK(book.take_debt(account, noon + std::chrono::hours(13)) == 0);
}
