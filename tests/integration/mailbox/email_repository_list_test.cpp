#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

using numbers = std::vector<std::int64_t>;

struct listing : seeds::world
{
    email_repository emails{scratch.db()};
    plans::account_state account = seeds::account();

    email_query query(std::optional<inbox_id> inbox = std::nullopt)
    {
        email_query requested;
        requested.account = account.account;
        requested.inbox = inbox;
        return requested;
    }
    result<page<email_summary>> list(email_query requested)
    {
        return testing::await(emails.list(std::move(requested)));
    }
};

numbers sequences_of(const page<email_summary>& listed)
{
    numbers sequences;
    for (const auto& each : listed.items)
        sequences.push_back(each.sequence);
    return sequences;
}

} // namespace

TEST_CASE("a list holds what contains every condition, whatever the case",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account, "ann");
    for (int i = 0; i < 3; ++i)
        world.add_email({inbox}, "mail");
    world.scratch.execute(
        "UPDATE mailbox.emails SET subject = 'GRÜSSE aus Köln' WHERE sequence = 2");
    using text = std::optional<std::string>;
    const auto listed = [&](text from, text to, text subject) {
        auto query = world.query(inbox.id);
        query.filter.from = std::move(from);
        query.filter.to = std::move(to);
        query.filter.subject = std::move(subject);
        return sequences_of(world.list(query).value());
    };

    CHECK(listed(std::nullopt, std::nullopt, "grüße AUS kÖln") == numbers{2});
    CHECK(listed("ANN@example", std::nullopt, std::nullopt) == numbers{3, 2, 1});
    CHECK(listed("ann", "LIST@", "subject 3") == numbers{3});
    CHECK(listed(std::nullopt, "ann@mail.test", std::nullopt) == numbers{3, 2, 1});
    CHECK(listed("bob", std::nullopt, std::nullopt).empty());
}

TEST_CASE("a list of an inbox leaves out the codes where nobody asked for them",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_email({inbox}, "mail");
    auto query = world.query(inbox.id);

    CHECK(world.list(query).value().items.at(0).codes.size() == 1);
    query.with_codes = false;
    CHECK(world.list(query).value().items.at(0).codes.empty());
    query.filter.has_code = true; // this one reads them
    CHECK(world.list(query).value().items.size() == 1);
}

TEST_CASE("a filtered page reads two thousand rows and continues from there",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 2'500);
    auto query = world.query(inbox.id);
    query.filter.subject = "Subject 7";
    query.limit = 100;
    query.after = 6;
    world.scratch.execute("UPDATE mailbox.emails SET subject = 'other' WHERE sequence > 100");

    const auto first = world.list(query).value();
    query.cursor = first.next_cursor;
    const auto second = world.list(query).value();

    CHECK(first.items.empty());
    CHECK_FALSE(first.next_cursor.empty());
    CHECK(sequences_of(second) == numbers{79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 7});
    CHECK(second.next_cursor.empty());
}

TEST_CASE("a filtered list is paged without gaps and repeats", "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 40);
    auto query = world.query(inbox.id);
    query.filter.subject = "Subject 1";
    query.limit = 4;

    numbers all;
    do {
        const auto page = world.list(query).value();
        for (const auto sequence : sequences_of(page))
            all.push_back(sequence);
        query.cursor = page.next_cursor;
    } while (!query.cursor.empty());

    CHECK(all == numbers{19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 1});
}

TEST_CASE("the account's list runs over its live inboxes alone, newest first",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto first = world.create(world.account), second = world.create(world.account),
               ended = world.create(world.account);
    const auto foreign = world.create(seeds::account());
    for (const auto& each : {first, ended, second, foreign, first})
        world.add_email({each}, "mail");
    world.make_due("inbox_id = '" + ended.id.text() + "'");
    auto query = world.query();
    query.limit = 2;

    const auto newest = world.list(query).value();
    query.cursor = newest.next_cursor;
    const auto oldest = world.list(query).value();

    REQUIRE(newest.items.size() == 2);
    CHECK(newest.items[0].inbox == first.id);
    CHECK(newest.items[1].inbox == second.id);
    REQUIRE(oldest.items.size() == 1);
    CHECK(oldest.items[0].inbox == first.id);
    CHECK(oldest.next_cursor.empty());
}

TEST_CASE("a cursor of another list, account or filter, and an altered one, are refused",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 5);
    auto query = world.query(inbox.id);
    query.limit = 2;
    const auto cursor = world.list(query).value().next_cursor;
    auto of_all = world.query();
    of_all.limit = 2;
    const auto cursor_of_all = world.list(of_all).value().next_cursor;
    const auto refused = [&](email_query requested, std::string with) {
        requested.cursor = std::move(with);
        const auto reply = world.list(std::move(requested));
        return !reply && reply.error().code == errc::invalid_argument;
    };
    auto filtered = query, of_other = of_all;
    filtered.filter.subject = "Subject";
    of_other.account = account_id::make();
    auto altered = cursor;
    altered[3] = altered[3] == 'A' ? 'B' : 'A';

    CHECK_FALSE(refused(query, cursor));
    CHECK(refused(filtered, cursor));
    CHECK(refused(of_all, cursor));
    CHECK(refused(of_other, cursor_of_all));
    CHECK(refused(query, cursor_of_all));
    CHECK(refused(query, altered));
    CHECK(refused(query, "no cursor at all"));
}

TEST_CASE("a page with a bound on bytes ends before it and goes on",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    for (int i = 0; i < 3; ++i)
        world.add_email({inbox}, std::string(1'000, 'x'));
    auto query = world.query(inbox.id);
    query.max_bytes = 2'500;

    const auto first = world.list(query).value();
    query.cursor = first.next_cursor;
    query.max_bytes = 10;
    const auto second = world.list(query).value();

    CHECK(sequences_of(first) == numbers{3, 2});
    CHECK(sequences_of(second) == numbers{1});
}
