#include "inbox/mail_reader.hpp"

#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;

namespace {

awaitable<void> read_into(mail_reader& reader, std::string raw,
                          std::vector<result<mime::view>>& views)
{
    auto view = co_await reader.read(std::move(raw));
    views.push_back(std::move(view));
}

std::string mail_of(std::size_t bytes)
{
    return "Subject: hi\r\n\r\n" + std::string(bytes, 'x');
}

} // namespace

TEST_CASE("messages are read beside the loop", "[inbox]")
{
    mail_reader reader(2);
    std::vector<result<mime::view>> views;

    for (int i = 0; i < 10; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), read_into(reader, mail_of(1'000), views),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return views.size() == 10; }));

    for (const auto& view : views)
        CHECK(view.value().summary.subject == "hi");
}

TEST_CASE("past what may be held at once a message is refused, and taken again later", "[inbox]")
{
    mail_reader reader(1);
    std::vector<result<mime::view>> views;
    constexpr std::size_t size = 100 * 1024 * 1024;

    for (int i = 0; i < 3; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), read_into(reader, mail_of(size), views),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return views.size() == 3; }, std::chrono::seconds(60)));
    boost::asio::co_spawn(testing::test_host().loop(), read_into(reader, mail_of(10), views),
                          boost::asio::detached);
    REQUIRE(testing::eventually([&] { return views.size() == 4; }));

    CHECK(std::count_if(views.begin(), views.end(), [](const auto& view) { return !view; }) == 1);
    REQUIRE_FALSE(views[0]);
    CHECK(views[0].error().code == errc::unavailable);
    CHECK(views[3]);
}

TEST_CASE("a message is read within the bounds that are set, its attachments too", "[inbox]")
{
    mime::view_limits limits;
    limits.parts = 2;
    mail_reader reader(1, limits);
    const std::string raw =
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\n"
        "Content-Type: image/png\r\n\r\nx\r\n--b--\r\n";

    const auto bounded = testing::await(reader.read(raw));
    const auto part_of_it = testing::await(reader.read_part(raw, "2"));

    CHECK(bounded.value().attachments.empty());
    CHECK_FALSE(part_of_it.value());
    mail_reader unbounded(1);
    CHECK(testing::await(unbounded.read_part(raw, "2")).value());
}
