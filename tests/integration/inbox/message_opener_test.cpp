#include "inbox/reading/message_opener.hpp"

#include "inbox/reading/message_search.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mailbox/partition_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace tempinbox::mailbox;

namespace {

using namespace std::chrono_literals;

constexpr std::size_t mib = 1024 * 1024;

// An inbox with mail in the partition of the hour in which it ends.
struct arranged_opener
{
    seeds::world world;
    partition_repository partitions{world.scratch.db()};
    email_repository emails{world.scratch.db()};
    message_parser parser{testing::test_host(), 2};
    message_opener opener{testing::test_host(), emails, parser, 0};
    plans::account_state account = seeds::account();
    mailbox::inbox box = world.create(account);

    arranged_opener()
    {
        testing::await(partitions.ensure_body_hour(box.expires_at));
        testing::await(partitions.ensure_body_hour(seeds::now() + 48h));
    }

    email_id add(const std::string& text)
    {
        const auto message = seeds::make_message({box}, "Subject: hi\r\n\r\n" + text + "\r\n");
        seeds::store(world.mail, {message});
        return message->deliveries.front().id;
    }

    email_query query() const
    {
        email_query query;
        query.account = account.account;
        query.inbox = box.id;
        query.order = list_order::oldest_first;
        query.filter.text = "needle";
        return query;
    }

    // Where a page of a list finds the messages now.
    std::vector<message_session::message> listed()
    {
        const auto page = testing::await(emails.list(query())).value();
        std::vector<message_session::message> messages;
        for (std::size_t i = 0; i < page.items.size(); ++i)
            messages.push_back({page.items[i].id, page.candidates.at(i).message});
        return messages;
    }

    // The inbox ends in another hour now: its bodies go there before the old hour is dropped.
    void move_bodies()
    {
        inbox_change requested;
        requested.account = account;
        requested.id = box.id;
        requested.ttl = 48h;
        testing::await(world.inboxes.change(requested, seeds::now())).value();
        while (testing::await(partitions.move_needed(box.expires_at)))
            ;
    }
};

} // namespace

TEST_CASE("a message is found where it was moved meanwhile, and a deleted one is passed over",
          "[inbox][filter][postgres]")
{
    arranged_opener arranged;
    arranged.add("first");
    const auto deleted = arranged.add("second");
    arranged.add("third");
    message_session session(arranged.opener, arranged.account.account, {10, mib, 10s},
                            async::deadline::after(30s));
    session.expect(arranged.listed());

    arranged.move_bodies();
    testing::await(arranged.emails.remove(arranged.account.account, deleted)).value();
    const auto first = testing::await(session.open_next()).value();
    const auto second = testing::await(session.open_next()).value();
    const auto third = testing::await(session.open_next()).value();

    CHECK(arranged.world.count("bodies WHERE body_hour < now() + interval '40 hours'") == 0);
    REQUIRE(first);
    CHECK(first->text == "first");
    CHECK_FALSE(second);
    REQUIRE(third);
    CHECK(third->text == "third");
    CHECK(session.opened() == 3);
}

TEST_CASE("a search finds what was moved to another partition", "[inbox][filter][postgres]")
{
    arranged_opener arranged;
    const auto first = arranged.add("a needle");
    arranged.add("nothing");
    const auto third = arranged.add("another needle");
    message_search search(testing::test_host(), arranged.emails, arranged.parser, {0, mib, 10s});

    arranged.move_bodies();
    const auto found = testing::await(search.list(arranged.query())).value();

    REQUIRE(found.page.items.size() == 2);
    CHECK(found.page.items[0].id == first);
    CHECK(found.page.items[1].id == third);
    CHECK(found.page.next_cursor.empty());
    CHECK(found.opened == 3);
}
