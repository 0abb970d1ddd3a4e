#include "integration/mailbox/seeds.hpp"
#include "mailbox/email_repository.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mailbox;

namespace {

using numbers = std::vector<std::int64_t>;

email_search above(std::int64_t sequence, std::optional<std::string> subject = std::nullopt)
{
    email_search requested;
    requested.after = sequence;
    requested.filter.subject = std::move(subject);
    return requested;
}

// An inbox with mail whose subjects are "Subject 1", "Subject 2" …
struct searched_inbox
{
    seeds::world world;
    email_repository emails{world.scratch.db()};
    plans::account_state account = seeds::account();
    mailbox::inbox box = world.create(account);

    explicit searched_inbox(int count)
    {
        for (int i = 0; i < count; ++i)
            world.add_email({box}, "mail");
    }

    result<search_results> find(std::vector<email_search> requested)
    {
        return testing::await(emails.find_first(account.account, box.id, std::move(requested)));
    }

    std::int64_t sequence_of(const std::vector<email_id>& found)
    {
        if (found.empty())
            return 0;
        return world.scratch
            .execute("SELECT sequence FROM mailbox.emails WHERE email_id = '" +
                     found.front().text() + "'")[0][0]
            .as<std::int64_t>();
    }
};

numbers sequences_of(const std::vector<near_miss>& misses)
{
    numbers sequences;
    for (const auto& each : misses)
        sequences.push_back(each.sequence);
    return sequences;
}

} // namespace

TEST_CASE("a search finds the lowest sequence above the one given", "[mailbox][postgres]")
{
    searched_inbox inbox(4);

    const auto found = inbox.find({above(0), above(2), above(4)}).value();

    CHECK(found.last_sequence == 4);
    REQUIRE(found.results.size() == 3);
    CHECK(inbox.sequence_of(found.results[0].emails) == 1);
    CHECK(inbox.sequence_of(found.results[1].emails) == 3);
    CHECK(found.results[2].emails.empty());
    CHECK(found.results[2].searched_to == 4);
}

TEST_CASE("a search with a filter reports the emails it skipped", "[mailbox][postgres]")
{
    searched_inbox inbox(14);

    const auto found = inbox.find({above(1, "SUBJECT 13"), above(12, "nothing like it")}).value();

    CHECK(inbox.sequence_of(found.results[0].emails) == 13);
    CHECK(sequences_of(found.results[0].near_misses) == numbers{3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    CHECK(found.results[0].near_misses[0].actual == "Subject 3");
    CHECK(found.results[0].near_misses[0].field == filter_field::subject);
    CHECK(found.results[1].emails.empty());
    CHECK(found.results[1].searched_to == 14);
    CHECK(sequences_of(found.results[1].near_misses) == numbers{13, 14});
}

TEST_CASE("each condition is searched in the columns it names", "[mailbox][postgres]")
{
    searched_inbox inbox(1);
    inbox.world.scratch.execute("UPDATE mailbox.emails SET attachment_count = 0, from_name = "
                                "'Żółw', subject = repeat('ä', 300), codes = '[]'");
    email_search all;
    all.filter.from = "ŻÓŁW";
    all.filter.to = "LIST@example.org";
    all.filter.subject = "ÄÄ";
    auto with_code = all;
    with_code.filter.has_code = true;
    auto shown = all;
    shown.filter.subject = "x";
    std::vector<email_search> others(5, above(0));
    others[0].filter.link_kind = "reset";
    others[1].filter.has_attachment = true;
    others[2].filter.is_read = true;
    others[3].filter.since = time_point(std::chrono::hours(24 * 365 * 1'000));
    others[4].filter.recipient = "list@example.org";

    const auto found = inbox.find({all, with_code, shown}).value();
    const auto missed = inbox.find(others).value();

    CHECK_FALSE(found.results[0].emails.empty());
    REQUIRE(found.results[1].near_misses.size() == 1);
    CHECK(found.results[1].near_misses[0].field == filter_field::has_code);
    CHECK(found.results[1].near_misses[0].actual == "false");
    REQUIRE(found.results[2].near_misses.size() == 1);
    CHECK(found.results[2].near_misses[0].actual.size() == 400); // 200 characters of two bytes
    std::vector<std::pair<filter_field, std::string>> reasons;
    for (const auto& result : missed.results)
        reasons.emplace_back(result.near_misses.at(0).field.field, result.near_misses.at(0).actual);
    CHECK(reasons[0] == std::pair(filter_field::link_kind, std::string("verify 1")));
    CHECK(reasons[1] == std::pair(filter_field::has_attachment, std::string("0")));
    CHECK(reasons[2] == std::pair(filter_field::is_read, std::string("false")));
    CHECK(reasons[3].first == filter_field::since);
    CHECK(reasons[4].first == filter_field::recipient);
}

TEST_CASE("a search reads a bounded number of emails and continues from where it ended",
          "[mailbox][postgres]")
{
    searched_inbox inbox(0);
    inbox.world.add_emails(inbox.box, 4'000);

    auto search = above(0, "Subject 3999");
    int passes = 1;
    auto found = inbox.find({search}).value();
    while (found.results[0].emails.empty() && found.results[0].searched_to < found.last_sequence &&
           passes < 10) {
        CHECK(found.results[0].searched_to > search.after);
        search.after = found.results[0].searched_to;
        found = inbox.find({search}).value();
        ++passes;
    }

    CHECK(passes == 2);
    CHECK(inbox.sequence_of(found.results[0].emails) == 3999);
}

TEST_CASE("nothing is found in the inbox of another account, nor in one that has ended",
          "[mailbox][postgres]")
{
    searched_inbox inbox(1);
    const auto bob = seeds::account();

    CHECK(testing::await(inbox.emails.find_first(bob.account, inbox.box.id, {above(0)}))
              .error()
              .code == errc::not_found);
    inbox.world.make_due();
    CHECK(inbox.find({above(0)}).error().code == errc::not_found);
}

TEST_CASE("one query reports the last sequences of many inboxes", "[mailbox][postgres]")
{
    searched_inbox inbox(3);
    const auto bob = seeds::account();
    const auto other = inbox.world.create(bob);
    const auto ended = inbox.world.create(bob);
    inbox.world.make_due("inbox_id = '" + ended.id.text() + "'");

    const auto sequences =
        testing::await(inbox.emails.last_sequences({{bob.account, other.id},
                                                    {inbox.account.account, inbox.box.id},
                                                    {bob.account, inbox.box.id},
                                                    {bob.account, ended.id},
                                                    {bob.account, inbox_id::make()}}));

    CHECK(sequences == numbers{0, 3, -1, -1, -1});
}
