#include "common/kafka/producer.hpp"

#include "common/testing/await.hpp"
#include "unit/common/kafka/forgetful_broker.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace tempinbox;

namespace {

kafka::message make_message()
{
    kafka::message made;
    made.topic = testing::forgetful_broker::topic;
    made.key = "one inbox";
    return made;
}

double count_implicit_acks()
{
    return testing::test_host()
        .metrics()
        .counter("tempinbox_kafka_implicit_acks_total",
                 "Events that the Kafka client reported as written without an offset; sent again")
        .Value();
}

} // namespace

TEST_CASE("a message counts as acknowledged only if the broker named its offset", "[kafka]")
{
    testing::forgetful_broker broker;
    const auto implicit_before = count_implicit_acks();
    kafka::producer producer(testing::test_host(), broker.settings());
    broker.refuse_next_batch();
    std::array<std::optional<bool>, 4> outcomes;

    for (auto& outcome : outcomes)
        REQUIRE(producer.send(make_message(),
                              [&outcome](bool is_acknowledged) { outcome = is_acknowledged; }));

    REQUIRE(testing::eventually([&outcomes] {
        return std::all_of(outcomes.begin(), outcomes.end(),
                           [](const auto& outcome) { return outcome.has_value(); });
    }));
    CHECK(outcomes[0] == false);
    CHECK(std::count(outcomes.begin(), outcomes.end(), true) == broker.count_records());
    CHECK(count_implicit_acks() == implicit_before + 1);
}
