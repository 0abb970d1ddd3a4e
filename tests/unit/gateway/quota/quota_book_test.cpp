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

    CHECK(book.let_through(account_id::make(), 3'000, noon) ==
          quota_numbers(3'000, 3'000, midnight));
}

TEST_CASE("the last known numbers are lowered by each request let through, and never below zero",
          "[gateway][quota]")
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

TEST_CASE("debts add up, and are told under one id until they are stored", "[gateway][quota]")
{
    quota_book book;
    const auto account = account_id::make();
    book.owe(account, 3'000, 7, 2, noon);
    book.owe(account, 3'000, 7, 1, noon);
    REQUIRE(book.debtors(10).size() == 1);

    const auto first = book.tell_debt(account, noon).value();
    book.owe(account, 3'000, 7, 4, noon);
    const auto again = book.tell_debt(account, noon).value();
    CHECK(first.units == 3);
    CHECK(again.units == 3);
    CHECK(again.id == first.id);
    CHECK(book.owed() == 7);

    book.note_stored(account, first.id);
    const auto second = book.tell_debt(account, noon).value();
    book.note_stored(account, first.id);
    CHECK(second.units == 4);
    CHECK(second.id != first.id);
    CHECK(book.owed() == 4);

    book.note_stored(account, second.id);
    CHECK_FALSE(book.tell_debt(account, noon));
    CHECK_FALSE(book.has_debts());
}

TEST_CASE("what is owed to a day that is over is told as that day's, before what the new day owes",
          "[gateway][quota]")
{
    quota_book book;
    const auto account = account_id::make();
    const auto next_day = noon + std::chrono::hours(13);
    book.owe(account, 3'000, 7, 5, noon);
    book.tell_debt(account, noon);
    book.owe(account, 3'000, 7, 2, next_day);
    CHECK(book.owed() == 7);
    CHECK(book.debtors(10).size() == 1);

    const auto old = book.tell_debt(account, next_day).value();
    book.note_stored(account, old.id);
    const auto current = book.tell_debt(account, next_day).value();
    book.note_stored(account, current.id);

    CHECK(old.units == 5);
    CHECK(old.on_day == std::chrono::floor<std::chrono::days>(noon));
    CHECK(current.units == 2);
    CHECK(current.on_day == old.on_day + std::chrono::days(1));
    CHECK_FALSE(book.has_debts());
}

TEST_CASE("a debt is given up a day after its day", "[gateway][quota]")
{
    quota_book book;
    const auto told = account_id::make(), untold = account_id::make(), current = account_id::make();
    book.owe(told, 3'000, 7, 5, noon);
    book.owe(untold, 3'000, 7, 5, noon);

    CHECK(book.tell_debt(told, noon + std::chrono::hours(35)));
    CHECK_FALSE(book.tell_debt(told, noon + std::chrono::hours(36)));
    book.owe(current, 3'000, 7, 1, noon + std::chrono::hours(36));

    CHECK(book.owed() == 1);
    CHECK(book.debtors(10).size() == 1);
}
