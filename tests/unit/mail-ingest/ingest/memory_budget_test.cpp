#include "mail-ingest/ingest/memory_budget.hpp"

#include <catch2/catch.hpp>

#include <utility>

using namespace tempinbox;

TEST_CASE("all messages under way share one memory, and give theirs back", "[mail-ingest]")
{
    mail_ingest::memory_budget budget(512 * 1024);
    {
        mail_ingest::memory_reservation large(budget);
        mail_ingest::memory_reservation small(budget);
        CHECK(large.grow(400 * 1024));
        CHECK_FALSE(small.grow(200 * 1024));
        CHECK_FALSE(budget.is_short());
        CHECK(small.grow(100 * 1024));
        CHECK(budget.is_short());

        const auto moved = std::move(large);
        small.clear();
        CHECK(budget.used() == 400 * 1024);
    }
    CHECK(budget.used() == 0);
}

TEST_CASE("the gauge shows what is held, also when it is given back", "[mail-ingest]")
{
    prometheus::Gauge shown;
    mail_ingest::memory_budget budget(512 * 1024, &shown);
    {
        mail_ingest::memory_reservation reservation(budget);
        reservation.grow(1'000);
        CHECK(shown.Value() == 1'000);
    }
    CHECK(shown.Value() == 0);
}

TEST_CASE("memory without bound is never short", "[mail-ingest]")
{
    mail_ingest::memory_budget budget(0);
    CHECK(budget.take(std::size_t{1} << 40));
    CHECK_FALSE(budget.is_short());
}
