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

TEST_CASE("debts end with their day", "[gateway][quota]")
{
    quota_book book;
    const auto account = account_id::make();
    book.owe(account, 3'000, 7, 5, noon);
    book.tell_debt(account, noon);

    CHECK_FALSE(book.tell_debt(account, noon + std::chrono::hours(13)));
    CHECK_FALSE(book.has_debts());
}
