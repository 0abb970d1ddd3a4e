#include "integration/common/postgres/rows_read.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

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

TEST_CASE("lists of an inbox and of the account look at the columns that each condition names",
          "[mailbox][email-list][filter][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account, "ann");
    for (int i = 0; i < 4; ++i)
        world.add_email({inbox}, "mail");
    world.scratch.execute(
        "UPDATE mailbox.emails SET attachment_count = 0, links = '[]';"
        "UPDATE mailbox.emails SET codes = '[]' WHERE sequence = 1;"
        "UPDATE mailbox.emails SET is_read = true WHERE sequence = 2;"
        "UPDATE mailbox.emails SET attachment_count = 3 WHERE sequence = 3;"
        "UPDATE mailbox.emails SET links = '[{\"url\":\"u\",\"text\":\"t\",\"kind\":\"reset\"}]', "
        "rcpt_to = '{ann+x@mail.test}' WHERE sequence = 4");
    const auto listed = [&](auto set) {
        std::vector<numbers> found;
        for (const auto& of : {std::optional(inbox.id), std::optional<inbox_id>()}) {
            for (const auto order : {list_order::newest_first, list_order::oldest_first}) {
                auto query = world.query(of);
                query.with_codes = false;
                query.order = order;
                set(query.filter);
                auto sequences = sequences_of(world.list(query).value());
                std::sort(sequences.begin(), sequences.end());
                found.push_back(sequences);
            }
        }
        CHECK(std::count(found.begin(), found.end(), found.front()) == 4);
        return found.front();
    };

    CHECK(listed([](auto& filter) { filter.has_code = false; }) == numbers{1});
    CHECK(listed([](auto& filter) { filter.is_read = true; }) == numbers{2});
    CHECK(listed([](auto& filter) { filter.has_attachment = true; }) == numbers{3});
    CHECK(listed([](auto& filter) { filter.has_link = true; }) == numbers{4});
    CHECK(listed([](auto& filter) { filter.has_link = false; }) == numbers{1, 2, 3});
    CHECK(listed([](auto& filter) { filter.link_kind = "reset"; }) == numbers{4});
    CHECK(listed([](auto& filter) { filter.link_kind = "verify"; }).empty());
    CHECK(listed([](auto& filter) { filter.recipient = "+X@"; }) == numbers{4});
}

TEST_CASE("a list of a time reads the emails near it alone",
          "[mailbox][email-list][filter][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account, "ann");
    world.add_emails(inbox, 20);
    // Email n came n hours before the next day begins.
    world.scratch.execute(
        "UPDATE mailbox.emails SET received_at = '2026-11-22 00:00Z'::timestamptz - sequence * "
        "interval '1 hour';"
        "UPDATE mailbox.inboxes SET created_at = '2026-11-20 00:00Z';"
        "UPDATE mailbox.emails SET email_id = (left(mailbox.lowest_uuid(received_at)::text, 14) || "
        "'7' || right(email_id::text, 21))::uuid");
    const time_point day{std::chrono::sys_days(std::chrono::year(2026) / 11 / 22)};
    for (const auto& of : {std::optional(inbox.id), std::optional<inbox_id>()}) {
        auto query = world.query(of);
        query.filter.since = day - std::chrono::hours(5);
        query.filter.until = day - std::chrono::hours(3);
        query.limit = 1;
        numbers found;
        int pages = 0;
        do {
            const auto page = world.list(query).value();
            for (const auto sequence : sequences_of(page))
                found.push_back(sequence);
            query.cursor = page.next_cursor;
            ++pages;
        } while (!query.cursor.empty());

        std::sort(found.begin(), found.end());
        CHECK(found == numbers{4, 5});
        CHECK(pages == 2);
    }
    auto query = world.query(inbox.id);
    query.filter.since = time_point(std::chrono::hours(-24));
    query.filter.until = day - std::chrono::hours(19);
    CHECK(sequences_of(world.list(query).value()) == numbers{20});
    query.filter.since = day + std::chrono::hours(24 * 365 * 100);
    query.filter.until.reset();
    CHECK(world.list(query).value().items.empty());
}

TEST_CASE("a list names whom the header names, beside the recipients",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account, "ann");
    world.add_email({inbox}, "mail");
    auto query = world.query(inbox.id);
    const std::vector<mime::email_address> named{{"List", "list@example.org"}};

    const auto of_inbox = world.list(query).value().items.at(0);
    query.inbox.reset();
    const auto of_account = world.list(query).value().items.at(0);

    CHECK(of_inbox.to == named);
    CHECK(of_inbox.rcpt_to == std::vector<std::string>{"ann@mail.test"});
    CHECK(of_account.to == named);
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

TEST_CASE("an inbox's list that is oldest first has what comes meanwhile on its last pages",
          "[mailbox][email-list][list-order][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 5);
    auto query = world.query(inbox.id);
    query.order = list_order::oldest_first;
    query.after = 1;
    query.limit = 2;

    const auto first = world.list(query).value();
    world.scratch.execute("DELETE FROM mailbox.emails WHERE sequence IN (2, 4)");
    query.cursor = first.next_cursor;
    const auto second = world.list(query).value();
    world.add_emails(inbox, 2);
    auto rest = world.query(inbox.id);
    rest.order = list_order::oldest_first;
    rest.after = second.items.back().sequence;
    const auto third = world.list(rest).value();

    CHECK(sequences_of(first) == numbers{2, 3});
    CHECK(sequences_of(second) == numbers{5});
    CHECK(second.next_cursor.empty());
    CHECK(sequences_of(third) == numbers{6, 7});
}

TEST_CASE("a filtered list that is oldest first reads two thousand rows a page, without gaps",
          "[mailbox][email-list][list-order][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 2'500);
    world.scratch.execute("UPDATE mailbox.emails SET subject = 'other' WHERE sequence < 2400");
    auto query = world.query(inbox.id);
    query.order = list_order::oldest_first;
    query.filter.subject = "Subject 249";
    query.limit = 4;

    std::vector<numbers> pages;
    do {
        const auto page = world.list(query).value();
        pages.push_back(sequences_of(page));
        query.cursor = page.next_cursor;
    } while (!query.cursor.empty());

    CHECK(pages ==
          std::vector<numbers>{
              {}, {2'490, 2'491, 2'492, 2'493}, {2'494, 2'495, 2'496, 2'497}, {2'498, 2'499}});
}

TEST_CASE("the account's list that is oldest first is the other one turned round",
          "[mailbox][email-list][list-order][postgres]")
{
    listing world;
    const auto first = world.create(world.account), second = world.create(world.account),
               ended = world.create(world.account);
    for (const auto& each : {first, ended, second, first, second, first})
        world.add_email({each}, "mail");
    world.make_due("inbox_id = '" + ended.id.text() + "'");
    const auto ids_of = [&](list_order order) {
        auto query = world.query();
        query.order = order;
        query.limit = 2;
        std::vector<email_id> ids;
        do {
            const auto page = world.list(query).value();
            for (const auto& each : page.items)
                ids.push_back(each.id);
            query.cursor = page.next_cursor;
        } while (!query.cursor.empty());
        return ids;
    };

    const auto newest = ids_of(list_order::newest_first);
    const auto oldest = ids_of(list_order::oldest_first);

    CHECK(newest.size() == 5);
    CHECK(oldest == std::vector<email_id>(newest.rbegin(), newest.rend()));
}

TEST_CASE("a page of a large inbox or account reads few rows from either end",
          "[mailbox][email-list][list-order][postgres]")
{
    listing world;
    const auto inbox = world.create(world.account);
    world.add_emails(inbox, 2'000);
    postgres::pool db(testing::test_host(), testing::one_connection(world.scratch));
    email_repository emails(db);
    for (const auto order : {list_order::newest_first, list_order::oldest_first}) {
        for (auto query : {world.query(inbox.id), world.query()}) {
            query.order = order;
            query.limit = 10;
            const auto before = testing::rows_read(db, world.scratch, "^emails");

            query.cursor = testing::await(emails.list(query)).value().next_cursor;
            const auto second = testing::await(emails.list(query)).value();

            CHECK(second.items.size() == 10);
            CHECK(testing::rows_read(db, world.scratch, "^emails") - before < 100);
        }
    }
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

TEST_CASE("the account's list of a tag has emails of inboxes with it alone",
          "[mailbox][email-list][postgres][key-access]")
{
    seeds::world world;
    email_repository emails(world.scratch.db());
    const auto account = seeds::account();
    const auto tagged = world.create_tagged(account, {"a", "ci"});
    const auto plain = world.create_tagged(account, {"a"});
    world.add_emails(plain, 3);
    world.add_emails(tagged, 3);
    world.add_emails(plain, 3);
    email_query query;
    query.account = account.account;
    query.tags = {"ci"};
    query.limit = 2;

    const auto first = testing::await(emails.list(query)).value();
    query.cursor = first.next_cursor;
    const auto second = testing::await(emails.list(query)).value();

    REQUIRE(first.items.size() == 2);
    REQUIRE(second.items.size() == 1);
    CHECK(second.next_cursor.empty());
    for (const auto& list : {first, second})
        for (const auto& email : list.items)
            CHECK(email.inbox == tagged.id);
}

TEST_CASE("the emails of a tag are read by their inboxes where they are few, else among all",
          "[mailbox][email-list][filter][postgres]")
{
    listing world;
    world.account.limits.live_inboxes = 200;
    const auto small = world.create_tagged(world.account, {"ci", "small"});
    const auto large = world.create_tagged(world.account, {"ci"});
    const auto plain = world.create_tagged(world.account, {"small"});
    world.add_emails(small, 2);
    world.add_emails(plain, 3'000);
    world.add_emails(large, 1'998);
    world.add_emails(small, 2);
    for (int count = 0; count < 150; ++count)
        world.add_emails(world.create_tagged(world.account, {"each"}), 1);
    const auto listed = [&](std::vector<std::string> tags, list_order order, int limit = 100) {
        auto query = world.query();
        query.tags = std::move(tags);
        query.order = order;
        query.limit = limit;
        query.filter.subject = "Subject";
        numbers per_page;
        std::vector<email_id> ids;
        do {
            const auto page = world.list(query).value();
            per_page.push_back(static_cast<std::int64_t>(page.items.size()));
            for (const auto& email : page.items)
                ids.push_back(email.id);
            query.cursor = page.next_cursor;
        } while (!query.cursor.empty());
        if (order == list_order::newest_first)
            std::reverse(ids.begin(), ids.end());
        CHECK(std::is_sorted(ids.begin(), ids.end()));
        return std::pair(per_page.size(), ids.size());
    };

    for (const auto order : {list_order::oldest_first, list_order::newest_first}) {
        // One page, though thousands of emails lie between the first and the last.
        CHECK(listed({"ci", "small"}, order) == std::pair(std::size_t{1}, std::size_t{4}));
        CHECK(listed({"ci", "small"}, order, 3) == std::pair(std::size_t{2}, std::size_t{4}));
        CHECK(listed({"each"}, order, 200) == std::pair(std::size_t{1}, std::size_t{150}));
        CHECK(listed({"none"}, order) == std::pair(std::size_t{1}, std::size_t{0}));
        CHECK(listed({"ci"}, order).second == 2'002); // more than are sorted
    }
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
    auto filtered = query, of_other = of_all, reversed = query, all_reversed = of_all;
    reversed.order = list_order::oldest_first;
    all_reversed.order = list_order::oldest_first;
    const auto cursor_of_reversed = world.list(reversed).value().next_cursor;
    filtered.filter.subject = "Subject";
    of_other.account = account_id::make();
    auto altered = cursor;
    altered[3] = altered[3] == 'A' ? 'B' : 'A';

    CHECK_FALSE(refused(query, cursor));
    CHECK(refused(filtered, cursor));
    CHECK(refused(of_all, cursor));
    CHECK(refused(of_other, cursor_of_all));
    CHECK(refused(query, cursor_of_all));
    CHECK(refused(reversed, cursor));
    CHECK(refused(all_reversed, cursor_of_all));
    CHECK(refused(query, cursor_of_reversed));
    CHECK_FALSE(refused(reversed, cursor_of_reversed));
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

TEST_CASE("lists that are asked for together are those that are asked for alone",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto large = world.create(world.account), small = world.create(world.account),
               empty = world.create(world.account), ended = world.create(world.account);
    world.add_emails(large, 1'200);
    world.add_emails(small, 3);
    world.add_emails(ended, 2);
    world.make_due("inbox_id = '" + ended.id.text() + "'");
    std::vector<email_query> queries;
    for (const auto& each : {large, small, empty, ended}) {
        for (const auto* subject : {"", "Subject 1", "nowhere"}) {
            auto query = world.query(each.id);
            if (*subject != '\0')
                query.filter.subject = subject;
            query.with_codes = *subject == '\0';
            queries.push_back(query);
        }
    }
    auto above = world.query(large.id), wrong = world.query(small.id), heavy = world.query(),
         tagged = world.query(), foreign = world.query(small.id);
    above.after = 1'198;
    wrong.cursor = "wrong";
    heavy.max_bytes = 1;
    tagged.tags = {"none"};
    foreign.account = account_id::make();
    for (const auto& each : {above, wrong, world.query(), heavy, tagged, foreign})
        queries.push_back(each);
    for (std::size_t i = 0, count = queries.size(); i < count; ++i) {
        queries.push_back(queries[i]);
        queries.back().order = list_order::oldest_first;
    }

    const auto together = testing::await(world.emails.list_all(queries));

    REQUIRE(together.size() == queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        INFO("query " << i);
        const auto alone = testing::await(world.emails.list(queries[i]));
        REQUIRE(together[i].has_value() == alone.has_value());
        if (!alone) {
            CHECK(together[i].error().code == alone.error().code);
            continue;
        }
        CHECK(sequences_of(*together[i]) == sequences_of(*alone));
        CHECK(together[i]->next_cursor == alone->next_cursor);
        CHECK(together[i]->version == alone->version);
    }
    CHECK(sequences_of(*together.at(1)).front() == 1'200);
    CHECK(sequences_of(*together.at(12)) == numbers{1'200, 1'199});
    CHECK(together.at(13).error().code == errc::invalid_argument);
    CHECK(together.at(15)->items.size() == 1);
    CHECK(together.at(17).error().code == errc::not_found);
    CHECK(sequences_of(*together.at(19)).front() == 1);
    CHECK(sequences_of(*together.at(30)) == numbers{1'199, 1'200});
}

TEST_CASE("of lists that are asked for together one with a damaged email fails alone",
          "[mailbox][email-list][postgres]")
{
    listing world;
    const auto damaged = world.create(world.account), sound = world.create(world.account);
    world.add_emails(damaged, 2);
    world.add_emails(sound, 2);
    world.scratch.execute("UPDATE mailbox.emails SET codes = '7' WHERE inbox_id = '" +
                          damaged.id.text() + "' AND sequence = 1");

    const auto listed = testing::await(
        world.emails.list_all({world.query(sound.id), world.query(damaged.id), world.query()}));

    CHECK(sequences_of(*listed.at(0)) == numbers{2, 1});
    CHECK(listed.at(1).error().code == errc::internal);
    CHECK(listed.at(2).error().code == errc::internal);
}
