#include "gateway/long_poll/long_poll_hub.hpp"

#include "common/events/events.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/producer.hpp"
#include "common/kafka/topics.hpp"
#include "common/testing/scratch_database.hpp"
#include "unit/gateway/long_poll/fake_inbox.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::begin_wait;
using testing::eventually;

namespace {

// Two replicas' hubs on the brokers' events, without the polls of each second.
class two_hubs
{
public:
    two_hubs()
    {
        std::vector<kafka::topic_spec> specs;
        for (const auto* name : {events::topics::inbox_activity, events::topics::inbox_expired})
            specs.push_back({name, 3, 1, {}});
        kafka::apply_topics(cluster, specs, 20s).value();
        for (auto* reader : {&first_reader, &second_reader})
            reader->start();
        if (!eventually([this] { return first_reader.is_current() && second_reader.is_current(); },
                        20s))
            throw std::runtime_error("the events cannot be read");
    }

    ~two_hubs()
    {
        first.interrupt();
        second.interrupt();
        eventually([this] { return first.waiters() + second.waiters() == 0; });
        first_reader.stop();
        second_reader.stop();
    }

    void publish_email(std::int64_t sequence)
    {
        events::v1::EmailReceived event;
        event.set_email_id(email_id::make().text());
        event.set_inbox_id(mail.inbox.text());
        event.set_account_id(mail.account.text());
        event.set_sequence(sequence);
        producer.send(events::make_activity(events::make_row(event, trace::traceparent::make())),
                      [](bool) {});
    }
    void publish_end()
    {
        events::v1::InboxExpired event;
        event.set_inbox_id(mail.inbox.text());
        event.set_account_id(mail.account.text());
        producer.send(events::make_row(event, event_id::make(), trace::traceparent::make()).message,
                      [](bool) {});
    }

    static kafka::settings brokers()
    {
        kafka::settings chosen;
        chosen.brokers = testing::test_brokers();
        return chosen;
    }

    testing::fake_inbox mail;
    kafka::settings cluster = brokers();
    kafka::producer producer{testing::test_host(), cluster};
    long_poll_hub first{testing::test_host(), mail.client, mail.memory, long_poll_limits(100)};
    long_poll_hub second{testing::test_host(), mail.client, mail.memory, long_poll_limits(100)};

private:
    const std::vector<std::string> topics{events::topics::inbox_activity,
                                          events::topics::inbox_expired};
    kafka::broadcast_reader first_reader{
        testing::test_host(), cluster, topics,
        [this](const std::vector<kafka::record>& batch) { first.take_events(batch); }};
    kafka::broadcast_reader second_reader{
        testing::test_host(), cluster, topics,
        [this](const std::vector<kafka::record>& batch) { second.take_events(batch); }};
};

} // namespace

TEST_CASE("an event on the brokers wakes those who wait at every replica",
          "[gateway][long_poll][kafka]")
{
    two_hubs arranged;
    const auto here = begin_wait(arranged.first, arranged.mail.request());
    const auto there = begin_wait(arranged.second, arranged.mail.request());
    REQUIRE(eventually([&] { return arranged.mail.polls == 2; }));

    const auto id = arranged.mail.add("news");
    arranged.publish_email(1);

    REQUIRE(eventually([&] { return here->final_result && there->final_result; }));
    CHECK(here->email_id() == id);
    CHECK(there->email_id() == id);
}

TEST_CASE("the end of an inbox on the brokers ends the waits at every replica",
          "[gateway][long_poll][kafka]")
{
    two_hubs arranged;
    const auto here = begin_wait(arranged.first, arranged.mail.request());
    const auto there = begin_wait(arranged.second, arranged.mail.request());
    REQUIRE(eventually([&] { return arranged.mail.polls == 2; }));

    arranged.mail.is_live = false;
    arranged.publish_end();

    REQUIRE(eventually([&] { return here->final_result && there->final_result; }));
    CHECK(here->end() == long_poll_outcome::inbox_ended);
    CHECK(there->end() == long_poll_outcome::inbox_ended);
}
