#include "common/postgres/migrations.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "mailbox/compression.hpp"
#include "mailbox/email_repository.hpp"
#include "migrations/schemas.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

// A database with one email of the release before, upgraded.
struct upgraded
{
    testing::scratch_database scratch{std::vector<std::string>{}};
    email_repository emails{scratch.db()};
    account_id account = account_id::make();
    inbox_id inbox = inbox_id::make();
    email_id email = email_id::make();

    upgraded()
    {
        auto before = migrations::of_schema("mailbox");
        std::erase_if(before.migrations, [](const auto& each) { return each.version > 8; });
        REQUIRE(postgres::migrate(scratch.dsn(), before).has_value());
        const auto own = "'" + account.text() + "', '" + inbox.text() + "'";
        scratch.execute("INSERT INTO mailbox.inboxes (account_id, inbox_id, email_address, "
                        "last_sequence, email_count, last_email_at, created_at, expires_at) "
                        "VALUES (" +
                        own +
                        ", 'ann@mail.test', 1, 1, now(), now(), now() + interval '1 day');"
                        "INSERT INTO mailbox.emails (account_id, inbox_id, email_id, sequence, "
                        "received_at, from_address, from_name, subject, preview, rcpt_to, "
                        "to_header, mail_from, remote_address, helo, size_bytes, "
                        "attachment_count, codes, links, defects, content_sha256, body_hour, "
                        "body_id, is_body_shared) VALUES (" +
                        own + ", '" + email.text() +
                        "', 1, now(), '', '', '', '', '{ann@mail.test}', "
                        "'{list@lists.test,\"no \\\"address\\\"\"}', '', '', '', 1, 0, '[]', "
                        "'[]', '{}', '', '2026-11-28 10:00Z', gen_random_uuid(), false)");
        REQUIRE(postgres::migrate(scratch.dsn(), migrations::of_schema("mailbox")).has_value());
    }
};

} // namespace

TEST_CASE("email from before keeps the addresses of To, without names", "[migrations][postgres]")
{
    upgraded world;
    const std::vector<mime::email_address> named{{"", "list@lists.test"}, {"", "no \"address\""}};

    const auto listed =
        testing::await(world.emails.list(world.account, world.inbox, 25, "", 0)).value();
    const auto found =
        testing::await(world.emails.find_all({{world.account, world.email}})).at(0).value();
    const auto marked = testing::await(world.emails.mark(world.account, world.email, true)).value();

    REQUIRE(listed.items.size() == 1);
    CHECK(listed.items[0].to == named);
    CHECK(listed.items[0].rcpt_to == std::vector<std::string>{"ann@mail.test"});
    CHECK(found.summary.to == named);
    CHECK_FALSE(found.addresses);
    CHECK(marked.to == named);
}

TEST_CASE("email from before is found by whom its To names", "[migrations][postgres]")
{
    upgraded world;
    email_query query;
    query.account = world.account;
    query.inbox = world.inbox;
    email_search search;
    for (const auto& [text, count] :
         {std::pair("LIST@", 1), std::pair("ann@", 1), std::pair("bob@", 0)}) {
        query.filter.to = text;
        search.filter.to = text;

        const auto listed = testing::await(world.emails.list(query)).value();
        const auto found =
            testing::await(world.emails.find_first(world.account, world.inbox, {search})).value();

        CHECK(static_cast<int>(listed.items.size()) == count);
        CHECK(found.results.at(0).emails.empty() == (count != 1));
    }
}
