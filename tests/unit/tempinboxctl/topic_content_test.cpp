#include "tempinboxctl/topic_content.hpp"

#include "common/testing/await.hpp"
#include "unit/common/kafka/forgetful_broker.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

std::vector<kafka::message> make_messages(std::size_t count, std::size_t bytes)
{
    std::vector<kafka::message> messages(count);
    for (auto& message : messages) {
        message.topic = testing::forgetful_broker::topic;
        message.key = "one inbox";
        message.value.assign(bytes, 'x');
    }
    return messages;
}

} // namespace

TEST_CASE("what Kafka did not acknowledge is sent again, and counted", "[tempinboxctl][kafka]")
{
    testing::forgetful_broker broker;
    broker.refuse_next_batch();

    const auto sent_again = testing::await(
        ctl::write_messages(testing::test_host(), broker.settings(), make_messages(4, 1), 15s));

    REQUIRE(sent_again);
    CHECK(*sent_again == 1);
    CHECK(broker.count_records() == 4);
}

TEST_CASE("a message that the client cannot send ends the writing at once", "[tempinboxctl][kafka]")
{
    testing::forgetful_broker broker;

    const auto sent_again =
        testing::await(ctl::write_messages(testing::test_host(), broker.settings(),
                                           make_messages(1, 2 * 1024 * 1024), 15s),
                       10s);

    REQUIRE_FALSE(sent_again);
    CHECK(sent_again.error().code == errc::unavailable);
}
