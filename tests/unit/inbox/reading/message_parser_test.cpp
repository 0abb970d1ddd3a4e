#include "inbox/reading/message_parser.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::inbox;

namespace {

const account_id alice = account_id::make();
const account_id bob = account_id::make();
constexpr std::size_t mib = 1024 * 1024;

using views = std::vector<result<mime::view>>;

awaitable<void> read_into(message_parser& reader, account_id account, std::string raw, views& all,
                          async::deadline until)
{
    auto view = co_await reader.read(account, std::move(raw), until);
    all.push_back(std::move(view));
}

void begin(message_parser& reader, account_id account, std::string raw, views& all,
           async::deadline until = async::deadline::never())
{
    boost::asio::co_spawn(testing::test_host().loop(),
                          read_into(reader, account, std::move(raw), all, until),
                          boost::asio::detached);
}

std::string mail_of(std::size_t bytes)
{
    return "Subject: hi\r\n\r\n" + std::string(bytes, 'x');
}

bool is_refused(const result<mime::view>& view)
{
    return !view && view.error().code == errc::unavailable;
}

} // namespace

TEST_CASE("messages are read beside the loop", "[inbox]")
{
    message_parser reader(testing::test_host(), 2);
    views all;

    for (int i = 0; i < 10; ++i)
        begin(reader, alice, mail_of(1'000), all);
    REQUIRE(testing::eventually([&] { return all.size() == 10; }));

    for (const auto& view : all)
        CHECK(view.value().summary.subject == "hi");
}

TEST_CASE("an account past its share of the memory is refused, others are not", "[inbox]")
{
    message_parser reader(testing::test_host(), 2, {}, 80 * mib);
    views of_alice, of_bob;

    for (int i = 0; i < 4; ++i)
        begin(reader, alice, mail_of(4 * mib), of_alice);
    begin(reader, bob, mail_of(4 * mib), of_bob);
    REQUIRE(testing::eventually([&] { return of_alice.size() == 4 && of_bob.size() == 1; }));
    begin(reader, alice, mail_of(4 * mib), of_alice);
    REQUIRE(testing::eventually([&] { return of_alice.size() == 5; }));

    CHECK(std::count_if(of_alice.begin(), of_alice.end(), is_refused) == 2);
    CHECK(of_alice.back());
    CHECK(of_bob.front());
}

TEST_CASE("a message that is larger than an account's share is read if it is the only one",
          "[inbox]")
{
    message_parser reader(testing::test_host(), 2, {}, 8 * mib);
    views all;

    begin(reader, alice, mail_of(9 * mib), all);
    begin(reader, alice, mail_of(1'000), all);
    begin(reader, bob, mail_of(1'000), all);
    REQUIRE(testing::eventually([&] { return all.size() == 3; }));

    CHECK(std::count_if(all.begin(), all.end(), is_refused) == 2);
}

TEST_CASE("a message that nobody waits for any more is not read", "[inbox]")
{
    message_parser reader(testing::test_host(), 1);
    views all;

    begin(reader, alice, mail_of(8 * mib), all); // holds the only thread
    begin(reader, alice, mail_of(1'000), all, std::chrono::steady_clock::now());
    REQUIRE(testing::eventually([&] { return all.size() == 2; }));

    CHECK(is_refused(all.front()));
    CHECK(all.back());
}

TEST_CASE("a message is read within the bounds that are set, its attachments too", "[inbox]")
{
    const auto never = async::deadline::never();
    mime::view_limits limits;
    limits.parts = 2;
    message_parser reader(testing::test_host(), 1, limits);
    const std::string raw =
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\n"
        "Content-Type: image/png\r\n\r\nx\r\n--b--\r\n";

    const auto bounded = testing::await(reader.read(alice, raw, never));
    const auto part_of_it = testing::await(reader.read_attachment(alice, raw, "2", never));

    CHECK(bounded.value().attachments.empty());
    CHECK_FALSE(part_of_it.value());
    message_parser unbounded(testing::test_host(), 1);
    CHECK(testing::await(unbounded.read_attachment(alice, raw, "2", never)).value());
}

TEST_CASE("attachments have the digest of their decoded bytes", "[inbox]")
{
    message_parser reader(testing::test_host(), 1);
    const std::string raw = "Content-Type: application/pdf\r\n"
                            "Content-Transfer-Encoding: base64\r\n\r\nYWJj\r\n";

    const auto view = testing::await(reader.read(alice, raw, async::deadline::never()));

    REQUIRE(view.value().attachments.size() == 1);
    CHECK(view.value().attachments[0].sha256 ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); // of abc
}
