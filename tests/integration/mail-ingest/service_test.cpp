#include "mail-ingest/service.hpp"

#include "common/events/events.hpp"
#include "common/kafka/producer.hpp"
#include "common/kafka/topics.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// mail-ingest alone on its database: no inbox service runs on it.
struct lone_mail_ingest
{
    testing::scratch_database scratch{{"mailbox"}};
    testing::scratch_folder folder;
    kafka::settings cluster;
    std::unique_ptr<mail_ingest::service> service;

    lone_mail_ingest()
    {
        cluster.brokers = testing::test_brokers();
        std::vector<kafka::topic_spec> specs;
        for (const auto* name : {events::topics::inbox_created, events::topics::inbox_expired,
                                 events::topics::account_state})
            specs.push_back({name, 3, 1, {}});
        kafka::apply_topics(cluster, specs, 20s).value();

        mail_ingest::settings chosen;
        chosen.database.dsn = scratch.dsn();
        chosen.kafka = cluster;
        chosen.smtp_listen = {host_port("127.0.0.1", 0)};
        chosen.ingest.spool_directory = folder.file("spool");
        service = std::make_unique<mail_ingest::service>(testing::test_host(), chosen);
        service->start();
    }
    lone_mail_ingest(const lone_mail_ingest&) = delete;
    ~lone_mail_ingest() { testing::await(service->drain()); }

    void publish(const plans::account_state& state)
    {
        kafka::producer producer(testing::test_host(), cluster);
        producer.send(events::make_row(state, event_id::make(), trace::traceparent::make()).message,
                      [](bool) {});
        testing::await(producer.flush(10s));
    }

    std::optional<plans::account_state> find(account_id account)
    {
        return testing::await(mailbox::account_state_repository(scratch.db()).find(account));
    }
};

} // namespace

TEST_CASE("mail-ingest learns a plan and a deletion while inbox is away",
          "[mail-ingest][postgres][kafka]")
{
    lone_mail_ingest running;
    plans::account_state state;
    state.account = account_id::make();
    state.plan = "pro";
    state.version = 17;
    state.limits.max_message_bytes = 1'234'567;

    running.publish(state);
    REQUIRE(testing::eventually([&] { return running.find(state.account).has_value(); }, 30s));
    CHECK(running.find(state.account)->limits.max_message_bytes == 1'234'567);

    state.is_deleted = true;
    state.version = 18;
    running.publish(state);
    CHECK(testing::eventually([&] { return running.find(state.account)->is_deleted; }, 30s));
}
