#include "inbox/reading/message_search.hpp"

#include "integration/mailbox/seeds.hpp"
#include "mime/view.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace tempinbox::mailbox;

namespace {

using namespace std::chrono_literals;
using ids = std::vector<email_id>;

constexpr std::size_t mib = 1024 * 1024;

// A search over an inbox in a database of its own.
struct arranged_search
{
    seeds::world world;
    email_repository emails{world.scratch.db()};
    message_parser parser{testing::test_host(), 2};
    message_search search;
    mailbox::inbox box = world.create(seeds::account());

    explicit arranged_search(std::size_t max_bytes = 16 * mib, std::size_t cache_bytes = 16 * mib,
                             std::chrono::milliseconds time = 10s)
        : search(testing::test_host(), emails, parser, {cache_bytes, max_bytes, time})
    {}

    // The text is too long for its preview to decide.
    email_id add(const std::string& text, std::size_t filling = 300)
    {
        return add_raw("X-Run: R-7\r\n\r\n" + std::string(filling, 'x') + " " + text);
    }

    email_id add_raw(const std::string& raw)
    {
        const auto message = seeds::make_message({box}, raw);
        message->preview = mime::read_view(raw).summary.preview;
        seeds::store(world.mail, {message});
        return message->deliveries.front().id;
    }

    void damage(email_id id)
    {
        world.scratch.execute("UPDATE mailbox.bodies SET raw = '\\x00' WHERE body_id = (SELECT "
                              "body_id FROM mailbox.emails WHERE email_id = '" +
                              id.text() + "')");
    }

    email_query query(const std::string& text) const
    {
        email_query query;
        query.account = box.account;
        query.inbox = box.id;
        query.filter.text = text;
        return query;
    }

    result<searched_page> list(email_query query)
    {
        return testing::await(search.list(std::move(query)));
    }

    search_results find(const std::string& text)
    {
        email_search wanted;
        wanted.filter.text = text;
        return testing::await(search.find_first(box.account, box.id, {wanted})).value();
    }
};

ids ids_of(const searched_page& found)
{
    ids all;
    for (const auto& email : found.page.items)
        all.push_back(email.id);
    return all;
}

// A counter of this process.
int counted(const std::string& series)
{
    const auto line = "\n" + series + " ";
    const auto text = testing::test_host().metrics().text();
    const auto found = text.find(line);
    return found == std::string::npos ? 0 : std::stoi(text.substr(found + line.size(), 20));
}

int pages_ended(const std::string& outcome)
{
    return counted("tempinbox_inbox_searches_total{kind=\"page\",outcome=\"" + outcome + "\"}");
}

awaitable<void> list_into(message_search& search, email_query query,
                          std::vector<result<searched_page>>& all)
{
    auto found = co_await search.list(std::move(query));
    all.push_back(std::move(found));
}

} // namespace

TEST_CASE("a damaged message is passed over, and a wait says that it cannot be read",
          "[inbox][filter][postgres]")
{
    arranged_search arranged;
    const auto first = arranged.add("needle");
    const auto damaged = arranged.add("needle");
    const auto last = arranged.add("needle");
    arranged.damage(damaged);
    const auto unreadable = counted("tempinbox_inbox_search_messages_total{source=\"unreadable\"}");
    auto by_header = arranged.query("absent");
    by_header.filter.text.reset();
    by_header.filter.headers = {{"X-Run", "R-7"}};

    const auto found = arranged.list(arranged.query("needle")).value();
    const auto with_header = arranged.list(by_header).value();
    const auto missed = arranged.find("absent").results.front();

    CHECK(ids_of(found) == ids{last, first});
    CHECK(found.page.next_cursor.empty());
    CHECK(found.opened == 3);
    CHECK(ids_of(with_header) == ids{last, first});
    CHECK(missed.searched_to == 3);
    REQUIRE(missed.near_misses.size() == 3);
    CHECK(missed.near_misses[1].actual == "(cannot be read)");
    CHECK(counted("tempinbox_inbox_search_messages_total{source=\"unreadable\"}") ==
          unreadable + 3);
}

TEST_CASE(
    "a message that was cut ends the page before it, and is read twice at the next one's start",
    "[inbox][filter][postgres]")
{
    arranged_search arranged;
    mime::view_limits hurried;
    hurried.time = std::chrono::milliseconds(-1);
    message_parser late(testing::test_host(), 1, hurried);
    message_search search(testing::test_host(), arranged.emails, late, {mib, mib, 10s});
    for (int i = 0; i < 2; ++i)
        arranged.add_raw("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" +
                         std::string(300, 'x') + " needle\r\n--b--\r\n");
    const auto unread = pages_ended("unread");
    email_search wanted;
    wanted.filter.text = "needle";

    auto query = arranged.query("needle");
    const auto first = testing::await(search.list(query)).value();
    query.cursor = first.page.next_cursor;
    const auto second = testing::await(search.list(query)).value();
    const auto missed =
        testing::await(search.find_first(arranged.box.account, arranged.box.id, {wanted}))
            .value()
            .results.front();

    CHECK(pages_ended("unread") == unread + 1);
    REQUIRE_FALSE(first.page.next_cursor.empty());
    CHECK(second.page.next_cursor.empty()); // so the chain ends, though nothing was read to its end
    CHECK(first.page.items.empty());
    CHECK(second.page.items.empty());
    CHECK(missed.searched_to == 1);
    REQUIRE(missed.near_misses.size() == 1);
    CHECK(missed.near_misses.front().actual == "(not read to its end)");
}

TEST_CASE("a page ends where its bytes, its messages or its rows do, and the next goes on",
          "[inbox][filter][postgres]")
{
    arranged_search arranged(3'500);
    ids expected;
    for (int i = 0; i < 5; ++i)
        expected.insert(expected.begin(), arranged.add("needle", 1'000));
    const auto by_bytes = pages_ended("bytes");

    auto query = arranged.query("needle");
    const auto first = arranged.list(query).value();
    query.cursor = first.page.next_cursor;
    const auto second = arranged.list(query).value();
    query = arranged.query("absent");
    query.max_rows = 2;
    const auto by_rows = arranged.list(query).value();

    CHECK(ids_of(first) == ids(expected.begin(), expected.begin() + 3));
    CHECK(first.opened == 3);
    CHECK(first.page.rows == 3);
    CHECK(ids_of(second) == ids(expected.begin() + 3, expected.end()));
    CHECK(second.page.next_cursor.empty());
    CHECK(pages_ended("bytes") == by_bytes + 1);
    CHECK(by_rows.page.items.empty());
    CHECK(by_rows.page.rows == 2);
    CHECK_FALSE(by_rows.page.next_cursor.empty());
}

TEST_CASE("a page ends when its time is over, but not before its first message",
          "[inbox][filter][postgres]")
{
    arranged_search arranged(16 * mib, 0, 0ms);
    for (int i = 0; i < 3; ++i)
        arranged.add("needle");

    auto query = arranged.query("absent");
    int pages = 0;
    do {
        const auto found = arranged.list(query).value();
        CHECK(found.opened == 1);
        query.cursor = found.page.next_cursor;
        ++pages;
    } while (!query.cursor.empty() && pages < 5);

    CHECK(pages == 3);
}

TEST_CASE("what was opened once is found in memory", "[inbox][filter][postgres]")
{
    arranged_search arranged;
    for (int i = 0; i < 3; ++i)
        arranged.add("needle");
    const auto memory = [] {
        return counted("tempinbox_inbox_search_messages_total{source=\"memory\"}");
    };

    arranged.list(arranged.query("absent")).value();
    const auto before = memory();
    const auto again = arranged.list(arranged.query("needle")).value();
    arranged.find("absent");

    CHECK(again.page.items.size() == 3);
    CHECK(memory() == before + 6);
}

TEST_CASE("pages of one account are read one after another, and all are answered",
          "[inbox][filter][postgres]")
{
    arranged_search arranged;
    arranged.add("needle");
    std::vector<result<searched_page>> all;

    for (int i = 0; i < 8; ++i)
        boost::asio::co_spawn(testing::test_host().loop(),
                              list_into(arranged.search, arranged.query("needle"), all),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == 8; }));

    for (const auto& found : all)
        CHECK(found.value().page.items.size() == 1);
}
