#include "mailbox/email_search.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

examined_email email(std::int64_t sequence, std::string subject)
{
    email_columns columns;
    columns.from = "from@example.com";
    columns.rcpt_to = {"to@example.com"};
    columns.subject = std::move(subject);
    return {email_id::make(), sequence, filtered_email(std::move(columns))};
}

email_search above(std::int64_t sequence, std::string subject)
{
    email_search requested;
    requested.after = sequence;
    requested.filter.subject = std::move(subject);
    return requested;
}

} // namespace

TEST_CASE("a search ends with the first email that matches", "[mailbox]")
{
    search_run run(above(1, "code"));
    const auto first = email(2, "A code"), second = email(3, "A code");
    for (const auto& read : {email(1, "A code"), first, second})
        run.examine(read);

    CHECK(run.is_done(3));
    run.searched_up_to(3);
    const auto found = run.take();
    CHECK(found.emails == std::vector{first.id});
    CHECK(found.searched_to == 2);
    CHECK(found.near_misses.empty());
}

TEST_CASE("a search keeps its newest ten near misses", "[mailbox]")
{
    search_run run(above(0, "code"));
    for (std::int64_t sequence = 1; sequence <= 12; ++sequence)
        run.examine(email(sequence, "Subject " + std::to_string(sequence)));

    CHECK_FALSE(run.is_done(12));
    run.searched_up_to(12);
    const auto found = run.take();
    CHECK(found.emails.empty());
    CHECK(found.searched_to == 12);
    REQUIRE(found.near_misses.size() == 10);
    CHECK(found.near_misses.front().sequence == 3);
    CHECK(found.near_misses.back().actual == "Subject 12");
}

TEST_CASE("a search for several emails ends with the last of them", "[mailbox]")
{
    auto several = above(1, "code");
    several.max_matches = 2;
    search_run run(several), short_run(several);
    const auto first = email(2, "A code"), second = email(4, "A code");
    for (const auto& read : {first, email(3, "Other"), second, email(5, "A code")})
        run.examine(read);
    short_run.examine(first);
    short_run.searched_up_to(3);

    CHECK(run.is_done(5));
    run.searched_up_to(5);
    const auto found = run.take();
    CHECK(found.emails == std::vector{first.id, second.id});
    CHECK(found.searched_to == 4);
    CHECK(found.near_misses.size() == 1);
    CHECK_FALSE(short_run.is_done(3));
    CHECK(short_run.take().searched_to == 3);
}
