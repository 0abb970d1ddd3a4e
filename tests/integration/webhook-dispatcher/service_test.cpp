#include "integration/common/kafka/collected.hpp"
#include "integration/webhook-dispatcher/dispatcher.hpp"
#include "integration/webhook-dispatcher/receiver.hpp"

#include "common/kafka/topics.hpp"
#include "common/rpc/client.hpp"
#include "common/rpc/webhook_methods.hpp"
#include "webhook-dispatcher/service.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::eventually;

namespace {

namespace v1 = webhooks::v1;

// A file with the shared token, removed at the end.
struct token_file
{
    std::string path =
        (std::filesystem::temp_directory_path() / ("tempinbox-token-" + std::to_string(getpid())))
            .string();

    token_file() { std::ofstream(path) << "0123456789abcdef-test-token\n"; }
    ~token_file() { std::filesystem::remove(path); }
    token_file(const token_file&) = delete;
};

// The whole service on topics of its own.
struct running_service
{
    testing::scratch_database scratch{{"webhooks"}};
    token_file token;
    std::string email_topic = testing::scratch_topic("email");
    std::string state_topic = testing::scratch_topic("state");
    std::string dead_letter_topic = email_topic + ".dead-letter";
    rpc::tokens tokens{token.path};
    kafka::producer producer{testing::test_host(), cluster()};
    std::unique_ptr<webhooks::service> service;
    testing::receiver hook;
    account_id account = account_id::make();

    running_service()
    {
        kafka::topic_spec dead_letters;
        dead_letters.name = dead_letter_topic;
        if (!kafka::apply_topics(cluster(), {dead_letters}, 30s))
            throw std::runtime_error("no topic for dead letters");
        start();
    }
    ~running_service() { stop(); }

    static kafka::settings cluster()
    {
        kafka::settings chosen;
        chosen.brokers = testing::test_brokers();
        return chosen;
    }

    std::unique_ptr<webhooks::service> make_replica()
    {
        webhooks::settings chosen;
        chosen.database.dsn = scratch.dsn();
        chosen.kafka = cluster();
        chosen.consumer_group = "group." + email_topic;
        chosen.topics = {email_topic, state_topic};
        chosen.rpc_token_file = token.path;
        chosen.keys.keys = testing::test_keys();
        chosen.urls = testing::loopback_policy();
        auto made = std::make_unique<webhooks::service>(testing::test_host(), chosen);
        made->start();
        return made;
    }
    static void stop(std::unique_ptr<webhooks::service>& replica)
    {
        if (replica)
            await(replica->drain(), 40s);
        replica.reset();
    }
    void start() { service = make_replica(); }
    void stop() { stop(service); }
    int count(const std::string& query)
    {
        return scratch.execute("SELECT count(*) FROM " + query)[0][0].as<int>();
    }

    template <class Response, class Request>
    result<Response> call(const char* method, const Request& request)
    {
        rpc::client client(testing::test_host(), {service->rpc_address()}, tokens);
        const auto path = std::string("tempinbox.webhooks.v1.WebhookService/") + method;
        return await(client.call(rpc::method<Request, Response>{path}, request));
    }

    void publish(const kafka::record& record, const std::string& topic)
    {
        kafka::message message;
        message.topic = topic;
        message.key = record.key;
        message.value = record.value;
        message.headers = record.headers;
        bool is_acknowledged = false;
        producer.send(std::move(message),
                      [&](bool acknowledged) { is_acknowledged = acknowledged; });
        if (!eventually([&] { return is_acknowledged; }, 20s))
            throw std::runtime_error("event not acknowledged");
    }
    void publish_mail(const std::string& subject)
    {
        publish(testing::email_record(testing::email(account, subject)), email_topic);
    }
};

} // namespace

TEST_CASE("from RPC and Kafka to the receiver chosen by a rule, across a restart",
          "[webhooks][kafka][postgres]")
{
    running_service s;
    testing::receiver subscribed;
    const auto chosen = s.call<v1::CreateWebhookResponse>(
        "CreateWebhook", testing::webhook_request(s.account, s.hook.url()));
    REQUIRE(chosen.has_value());
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(s.account, subscribed.url()))
                .has_value());

    s.publish_mail("no rule yet");
    REQUIRE(s.hook.got(1, 30s));
    REQUIRE(subscribed.got(1));

    const auto rule = testing::rule_request(s.account, chosen->webhook().webhook_id(), "invoice");
    REQUIRE(s.call<v1::CreateRuleResponse>("CreateRule", rule).has_value());
    s.publish_mail("Invoice 1");
    s.publish_mail("something else");
    REQUIRE(s.hook.got(2));

    s.stop();
    s.publish_mail("Invoice 2");
    s.start();
    REQUIRE(s.hook.got(3, 30s));
    CHECK(eventually([&] {
        return s.scratch
                   .execute(
                       "SELECT count(*) FROM webhooks.deliveries WHERE state = 'succeeded'")[0][0]
                   .as<int>() == 4;
    }));
    CHECK(s.hook.requests().size() == 3);
    CHECK(subscribed.requests().size() == 1);
}

TEST_CASE("an event that cannot be read goes to the dead letters and does not block",
          "[webhooks][kafka][postgres]")
{
    running_service s;
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(s.account, s.hook.url()))
                .has_value());
    testing::collected found(s.cluster(), {s.dead_letter_topic});
    const auto& dead_letters = found.records();

    auto poison = testing::email_record(testing::email(s.account));
    poison.value = "\xff\xff\xff";
    s.publish(poison, s.email_topic);
    s.publish_mail("after it");

    REQUIRE(s.hook.got(1, 30s));
    REQUIRE(found.has(1, 30s));
    CHECK(dead_letters.size() == 1);
    CHECK(dead_letters[0].value == poison.value);
    CHECK(dead_letters[0].header("dead_letter_reason").value_or("").find("EmailReceived") !=
          std::string_view::npos);
    CHECK(dead_letters[0].header("dead_letter_consumer") == "webhook-dispatcher");
}

TEST_CASE("an event that PostgreSQL refuses goes to the dead letters alone",
          "[webhooks][kafka][postgres]")
{
    running_service s;
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(s.account, s.hook.url()))
                .has_value());
    testing::collected found(s.cluster(), {s.dead_letter_topic});
    const auto& dead_letters = found.records();
    auto poison = testing::email(s.account, "before all time");
    poison.mutable_received_at()->set_seconds(-220'000'000'000);
    auto before = testing::email(s.account), after = testing::email(s.account);
    before.set_inbox_id(poison.inbox_id()); // the same key: the same partition
    after.set_inbox_id(poison.inbox_id());
    s.stop(); // so that they come in one batch

    for (const auto& message : {before, poison, after})
        s.publish(testing::email_record(message), s.email_topic);
    s.start();

    REQUIRE(s.hook.got(2, 30s));
    REQUIRE(found.has(1, 30s));
    CHECK(dead_letters.size() == 1);
    CHECK(dead_letters[0].header("ce_id") == poison.email_id());
    CHECK(dead_letters[0].header("dead_letter_reason").value_or("").find("out of range") !=
          std::string_view::npos);
    CHECK(
        eventually([&] { return s.count("webhooks.deliveries WHERE state = 'succeeded'") == 2; }));
    CHECK(s.hook.requests().size() == 2);
}

TEST_CASE("an event that its feed cannot record goes to the dead letters alone, and comes last",
          "[webhooks][feed][kafka][postgres]")
{
    running_service s;
    rpc::client client(testing::test_host(), {s.service->rpc_address()}, s.tokens);
    v1::OpenFeedRequest request;
    *request.mutable_account() = testing::account_on_plan(s.account, 5, 20);
    REQUIRE(await(client.call(webhook_methods::open_feed, request)).has_value());
    testing::collected found(s.cluster(), {s.dead_letter_topic});
    const auto& dead_letters = found.records();
    auto before = testing::email(s.account), poison = testing::email(s.account, "poison"),
         after = testing::email(s.account);
    before.set_inbox_id(poison.inbox_id()); // the same key: the same partition
    after.set_inbox_id(poison.inbox_id());
    s.stop(); // so that they come in one batch
    s.scratch.execute("ALTER TABLE webhooks.feed_events ADD CONSTRAINT no_poison "
                      "CHECK (convert_from(body, 'UTF8') NOT LIKE '%poison%')");

    for (const auto& message : {before, poison, after})
        s.publish(testing::email_record(message), s.email_topic);
    s.start();

    REQUIRE(found.has(1, 30s));
    CHECK(dead_letters.size() == 1);
    CHECK(dead_letters[0].header("ce_id") == poison.email_id());
    CHECK(dead_letters[0].header("dead_letter_reason").value_or("").find("no_poison") !=
          std::string_view::npos);
    CHECK(s.count("webhooks.feed_events") == 2);

    s.scratch.execute("ALTER TABLE webhooks.feed_events DROP CONSTRAINT no_poison");
    s.publish(dead_letters[0], s.email_topic);

    REQUIRE(eventually([&] { return s.count("webhooks.feed_events") == 3; }, 30s));
    std::vector<std::string> ids;
    for (const auto& row : s.scratch.execute(
             "SELECT event_id FROM webhooks.feed_events WHERE position <= 3 ORDER BY position"))
        ids.push_back(row[0].as<std::string>());
    CHECK(ids == std::vector{before.email_id(), after.email_id(), poison.email_id()});
}

TEST_CASE("an event that could not be stored yet comes again to the next process",
          "[webhooks][kafka][postgres]")
{
    running_service s;
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(s.account, s.hook.url()))
                .has_value());
    pqxx::connection blocker(s.scratch.dsn());
    auto lock = std::make_unique<pqxx::work>(blocker);
    lock->exec("LOCK TABLE webhooks.deliveries IN ACCESS EXCLUSIVE MODE");

    s.publish_mail("held up");
    REQUIRE(eventually(
        [&] {
            return s.count("pg_locks WHERE NOT granted AND relation = "
                           "'webhooks.deliveries'::regclass") != 0;
        },
        30s));
    s.stop();
    CHECK(s.count("webhooks.due_deliveries") == 0);
    lock.reset();
    s.start();

    CHECK(s.hook.got(1, 30s));
}

TEST_CASE("replicas that come and go lose no event", "[webhooks][kafka][postgres]")
{
    running_service s;
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(s.account, s.hook.url()))
                .has_value());
    constexpr int events_a_step = 40;
    const auto publish_some = [&] {
        for (int i = 0; i < events_a_step; ++i)
            s.publish_mail("mail " + std::to_string(i));
    };

    publish_some();
    auto second = s.make_replica();
    publish_some();
    REQUIRE(s.hook.got(events_a_step, 30s));
    s.stop();
    publish_some();
    s.start();
    publish_some();
    running_service::stop(second);
    publish_some();

    CHECK(eventually(
        [&] {
            return s.count("webhooks.deliveries WHERE state = 'succeeded'") == 5 * events_a_step;
        },
        60s));
    std::set<std::string> distinct;
    for (const auto& request : s.hook.requests())
        distinct.insert(std::string(request.header("webhook-id").value_or("")));
    CHECK(distinct.size() == 5 * events_a_step);
    CHECK(s.count("webhooks.due_deliveries") == 0);
}

TEST_CASE("a plan change from Kafka is in force for the mail after it",
          "[webhooks][kafka][postgres]")
{
    running_service s;
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(s.account, s.hook.url()))
                .has_value());
    plans::account_state ended;
    ended.account = s.account;
    ended.version = 9;
    ended.plan = "free";

    s.publish(
        testing::to_record(events::make_row(ended, event_id::make(), trace::traceparent::make())),
        s.state_topic);
    REQUIRE(eventually(
        [&] {
            return s.scratch
                       .execute(
                           "SELECT count(*) FROM webhooks.account_states WHERE version = 9")[0][0]
                       .as<int>() == 1;
        },
        30s));
    const auto refused = testing::email(s.account);
    s.publish(testing::email_record(refused), s.email_topic);
    testing::receiver marker;
    const auto other = account_id::make();
    REQUIRE(s.call<v1::CreateWebhookResponse>("CreateWebhook",
                                              testing::webhook_request(other, marker.url()))
                .has_value());
    auto after_it = testing::email(other);
    after_it.set_inbox_id(refused.inbox_id()); // the same key: the same partition
    s.publish(testing::email_record(after_it), s.email_topic);

    REQUIRE(marker.got(1, 30s));
    CHECK(s.hook.requests().empty());
}
