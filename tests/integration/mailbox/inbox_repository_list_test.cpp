#include "integration/common/postgres/rows_read.hpp"
#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

std::vector<std::string> addresses_of(const page<inbox>& listed)
{
    std::vector<std::string> addresses;
    for (const auto& each : listed.items)
        addresses.push_back(each.address.substr(0, each.address.find('@')));
    return addresses;
}

using names = std::vector<std::string>;

} // namespace

TEST_CASE("inboxes are listed newest first, page by page, and stay right while others come and go",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(20);
    std::map<std::string, inbox> made;
    for (const std::string name : {"a", "b", "c", "d", "e", "f"})
        made[name] = world.create(account, name);

    const auto first =
        testing::await(world.inboxes.list(account.account, inbox_filter(), 2, "")).value();
    world.create(account, "newer");
    world.scratch.execute("DELETE FROM mailbox.inboxes WHERE inbox_id IN ('" + made["e"].id.text() +
                          "', '" + made["c"].id.text() + "')");
    const auto second =
        testing::await(world.inboxes.list(account.account, inbox_filter(), 2, first.next_cursor))
            .value();
    const auto third =
        testing::await(world.inboxes.list(account.account, inbox_filter(), 2, second.next_cursor))
            .value();

    CHECK(addresses_of(first) == names{"f", "e"});
    CHECK(addresses_of(second) == names{"d", "b"});
    CHECK(addresses_of(third) == names{"a"});
    CHECK(third.next_cursor.empty());
}

TEST_CASE("inboxes are listed oldest first, and new ones are on the last page",
          "[mailbox][list-order][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(20);
    std::map<std::string, inbox> made;
    for (const std::string name : {"a", "b", "c", "d", "e"})
        made[name] = world.create(account, name);
    const auto list = [&](const std::string& cursor) {
        return testing::await(world.inboxes.list(account.account, inbox_filter(), 2, cursor,
                                                 list_order::oldest_first))
            .value();
    };

    const auto first = list("");
    world.create(account, "newer");
    world.scratch.execute("DELETE FROM mailbox.inboxes WHERE inbox_id IN ('" + made["b"].id.text() +
                          "', '" + made["c"].id.text() + "')");
    const auto second = list(first.next_cursor);
    const auto third = list(second.next_cursor);

    CHECK(addresses_of(first) == names{"a", "b"});
    CHECK(addresses_of(second) == names{"d", "e"});
    CHECK(addresses_of(third) == names{"newer"});
    CHECK(third.next_cursor.empty());
}

TEST_CASE("inboxes made in one instant are each listed once, in either order",
          "[mailbox][list-order][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(20);
    for (int i = 0; i < 7; ++i)
        world.create(account);
    world.scratch.execute("UPDATE mailbox.inboxes SET created_at = '2026-01-01'");

    const auto read_all = [&](list_order order) {
        std::vector<inbox_id> seen;
        std::string cursor;
        int pages = 0;
        do {
            const auto page = testing::await(world.inboxes.list(account.account, inbox_filter(), 3,
                                                                cursor, order))
                                  .value();
            for (const auto& each : page.items)
                seen.push_back(each.id);
            cursor = page.next_cursor;
            ++pages;
        } while (!cursor.empty());
        CHECK(pages == 3);
        return seen;
    };

    const auto newest = read_all(list_order::newest_first);
    const auto oldest = read_all(list_order::oldest_first);

    CHECK(std::set<inbox_id>(newest.begin(), newest.end()).size() == 7);
    CHECK(oldest == std::vector<inbox_id>(newest.rbegin(), newest.rend()));
}

TEST_CASE("a list can be narrowed by status, tag and address", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(20);
    new_inbox tagged;
    tagged.account = account;
    tagged.id = inbox_id::make();
    tagged.local_part = "tagged";
    tagged.tags = {"ci"};
    testing::await(world.inboxes.create(tagged, seeds::now())).value();
    world.create(account, "plain");
    const auto ended = world.create(account, "ended");
    testing::await(world.endings.expire(account.account, ended.id)).value();
    const auto due = world.create(account, "due");
    world.make_due("inbox_id = '" + due.id.text() + "'");
    const auto list = [&](inbox_status status, std::optional<std::string> tag,
                          std::optional<std::string> address) {
        inbox_filter filter;
        filter.status = status;
        if (tag)
            filter.tags = {*tag};
        filter.address = std::move(address);
        return addresses_of(
            testing::await(world.inboxes.list(account.account, filter, 25, "")).value());
    };

    CHECK(list(inbox_status::all, std::nullopt, std::nullopt) ==
          names{"due", "ended", "plain", "tagged"});
    CHECK(list(inbox_status::active, std::nullopt, std::nullopt) == names{"plain", "tagged"});
    CHECK(list(inbox_status::expired, std::nullopt, std::nullopt) == names{"due", "ended"});
    CHECK(list(inbox_status::active, "ci", std::nullopt) == names{"tagged"});
    CHECK(list(inbox_status::expired, "ci", std::nullopt).empty());
    CHECK(list(inbox_status::all, std::nullopt, "PLAIN@mail.test") == names{"plain"});
    CHECK(list(inbox_status::expired, std::nullopt, "plain@mail.test").empty());
    CHECK(list(inbox_status::expired, std::nullopt, "ended@mail.test") == names{"ended"});
}

TEST_CASE("a list of several tags has the inboxes with all of them",
          "[mailbox][postgres][key-access]")
{
    seeds::world world;
    const auto account = seeds::account();
    const auto both = world.create_tagged(account, {"ci", "a"});
    const auto ours = world.create_tagged(account, {"ci"});
    world.create_tagged(account, {"a"});
    world.create(account);
    const auto list = [&](std::vector<std::string> tags, std::optional<std::string> address) {
        inbox_filter filter;
        filter.tags = std::move(tags);
        filter.address = std::move(address);
        return testing::await(world.inboxes.list(account.account, filter, 25, "")).value().items;
    };

    CHECK(list({"ci"}, std::nullopt).size() == 2);
    const auto found = list({"a", "ci"}, std::nullopt);
    REQUIRE(found.size() == 1);
    CHECK(found.front().id == both.id);
    CHECK(list({"a", "ci"}, both.address).size() == 1);
    CHECK(list({"a", "ci"}, ours.address).empty());
    CHECK(testing::await(world.inboxes.count_live(account.account, "ci")) == 2);
    CHECK(testing::await(world.inboxes.count_live(account.account)) == 4);
    testing::await(world.endings.expire(account.account, both.id)).value();
    CHECK(testing::await(world.inboxes.count_live(account.account, "ci")) == 1);
}

TEST_CASE("an inbox and an email are found by their tag, ended or not, by their account alone",
          "[mailbox][postgres][key-access]")
{
    seeds::world world;
    const auto account = seeds::account(), other = seeds::account();
    const auto tagged = world.create_tagged(account, {"a", "ci"});
    const auto plain = world.create(account);
    world.add_email({tagged}, "mail");
    const auto email =
        email_id::parse(
            world.scratch.execute("SELECT email_id FROM mailbox.emails")[0][0].as<std::string>())
            .value();
    const auto finds = [&](const plans::account_state& who, auto id, const std::string& tag) {
        return testing::await(world.inboxes.check_tag(who.account, id, tag)).has_value();
    };

    CHECK(finds(account, tagged.id, "ci"));
    CHECK(finds(account, email, "ci"));
    CHECK_FALSE(finds(account, tagged.id, "c"));
    CHECK_FALSE(finds(account, email, "c"));
    CHECK_FALSE(finds(account, plain.id, "ci"));
    CHECK_FALSE(finds(other, tagged.id, "ci"));
    CHECK_FALSE(finds(other, email, "ci"));
    CHECK_FALSE(finds(account, inbox_id::make(), "ci"));
    CHECK_FALSE(finds(account, email_id::make(), "ci"));
    CHECK(
        testing::await(world.inboxes.check_tag(account.account, plain.id, "ci")).error().message ==
        testing::await(world.inboxes.find(other.account, plain.id)).error().message);
    testing::await(world.endings.expire(account.account, tagged.id)).value();
    CHECK(finds(account, tagged.id, "ci"));
}

TEST_CASE("a filtered page may be short, and its cursor continues where reading ended",
          "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(20);
    new_inbox oldest;
    oldest.account = account;
    oldest.id = inbox_id::make();
    oldest.tags = {"ci"};
    testing::await(world.inboxes.create(oldest, seeds::now())).value();
    world.add_many_inboxes(account.account, 2'100);
    inbox_filter filter;
    filter.tags = {"ci"};

    const auto first = testing::await(world.inboxes.list(account.account, filter, 25, "")).value();
    const auto second =
        testing::await(world.inboxes.list(account.account, filter, 25, first.next_cursor)).value();

    CHECK(first.items.empty());
    CHECK_FALSE(first.next_cursor.empty());
    REQUIRE(second.items.size() == 1);
    CHECK(second.items[0].id == oldest.id);
    CHECK(second.next_cursor.empty());
}

TEST_CASE("a filtered page that is oldest first continues where reading ended, too",
          "[mailbox][list-order][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    world.add_many_inboxes(account.account, 2'100);
    world.scratch.execute("UPDATE mailbox.inboxes SET tags = '{ci}' WHERE created_at = (SELECT "
                          "max(created_at) FROM mailbox.inboxes)");
    inbox_filter filter;
    filter.tags = {"ci"};
    const auto list = [&](const std::string& cursor) {
        return testing::await(world.inboxes.list(account.account, filter, 25, cursor,
                                                 list_order::oldest_first))
            .value();
    };

    const auto first = list("");
    const auto second = list(first.next_cursor);

    CHECK(first.items.empty());
    CHECK_FALSE(first.next_cursor.empty());
    CHECK(addresses_of(second) == names{"2100"});
    CHECK(second.next_cursor.empty());
}

TEST_CASE("a page of many inboxes reads few rows from either end",
          "[mailbox][list-order][postgres]")
{
    seeds::world world;
    const auto account = seeds::account();
    world.add_many_inboxes(account.account, 2'000);
    world.scratch.execute("ANALYZE mailbox.inboxes");
    postgres::pool db(testing::test_host(), testing::one_connection(world.scratch));
    inbox_repository inboxes(db, "test");
    for (const auto order : {list_order::newest_first, list_order::oldest_first}) {
        for (const auto status : {inbox_status::all, inbox_status::active}) {
            inbox_filter filter;
            filter.status = status;
            const auto list = [&](const std::string& cursor) {
                return testing::await(inboxes.list(account.account, filter, 10, cursor, order))
                    .value();
            };
            const auto before = testing::rows_read(db, world.scratch, "^inboxes$");

            const auto second = list(list("").next_cursor);

            CHECK(second.items.size() == 10);
            CHECK(testing::rows_read(db, world.scratch, "^inboxes$") - before < 100);
        }
    }
}

TEST_CASE("a cursor of another list, or another order, is refused", "[mailbox][postgres]")
{
    seeds::world world;
    const auto account = seeds::account(20);
    for (int i = 0; i < 3; ++i)
        world.create(account);
    const auto first =
        testing::await(world.inboxes.list(account.account, inbox_filter(), 2, "")).value();
    inbox_filter active;
    active.status = inbox_status::active;

    const auto mixed =
        testing::await(world.inboxes.list(account.account, active, 2, first.next_cursor));

    const auto reversed = testing::await(world.inboxes.list(
        account.account, inbox_filter(), 2, first.next_cursor, list_order::oldest_first));

    for (const auto& outcome : {mixed, reversed}) {
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == errc::invalid_argument);
        CHECK(outcome.error().reason == error_reason::invalid_cursor);
    }
}
