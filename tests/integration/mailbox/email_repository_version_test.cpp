#include "mailbox/email_repository.hpp"

#include "integration/mailbox/seeds.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

struct versioned : seeds::world
{
    email_repository emails{scratch.db()};
    inbox of = create(seeds::account());

    std::string version()
    {
        return testing::await(emails.find_versions({{of.account, of.id}})).at(0);
    }
    email_page list() { return testing::await(emails.list(of.account, of.id, 25, "", 0)).value(); }
};

} // namespace

TEST_CASE(
    "every change of an inbox's emails gives it a version it never had, and a list returns it",
    "[mailbox][versions][postgres]")
{
    versioned world;
    std::set<std::string> seen{world.version()};
    const auto is_new = [&] {
        CHECK(world.list().version == world.version());
        return seen.insert(world.version()).second;
    };

    CHECK(world.list().version == world.version());
    world.add_email({world.of}, "one");
    CHECK(is_new());
    world.add_email({world.of}, "two");
    CHECK(is_new());
    const auto newest = world.list().items.at(0).id;
    testing::await(world.emails.mark(world.of.account, newest, true)).value();
    CHECK(is_new());
    testing::await(world.emails.mark(world.of.account, newest, false)).value();
    CHECK(is_new());
    testing::await(world.emails.remove(world.of.account, newest)).value();
    CHECK(is_new());
    world.add_email({world.of}, "three");
    CHECK(is_new());
    testing::await(world.emails.empty_inbox(world.of.account, world.of.id, std::nullopt)).value();
    CHECK(is_new());
    CHECK_FALSE(is_new());
}

TEST_CASE("versions are returned in the order of the request, empty for inboxes that are not there",
          "[mailbox][versions][postgres]")
{
    versioned world;
    const auto other = world.create(seeds::account()), ended = world.create(seeds::account());
    world.add_email({other}, "mail");
    world.make_due("inbox_id = '" + ended.id.text() + "'");

    const auto found =
        testing::await(world.emails.find_versions({{other.account, other.id},
                                                   {ended.account, ended.id},
                                                   {world.of.account, other.id},
                                                   {world.of.account, world.of.id},
                                                   {other.account, other.id},
                                                   {world.of.account, inbox_id::make()}}));

    CHECK(found == std::vector<std::string>{"1-1-0", "", "", "0-0-0", "1-1-0", ""});
}

TEST_CASE("a mark of an email that is gone changes no version", "[mailbox][versions][postgres]")
{
    versioned world;
    world.add_email({world.of}, "mail");
    const auto email = world.list().items.at(0).id;
    testing::await(world.emails.remove(world.of.account, email)).value();

    CHECK(testing::await(world.emails.mark(world.of.account, email, true)).error().code ==
          errc::not_found);
    CHECK(world.version() == "1-0-1");
}
