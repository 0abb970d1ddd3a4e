#include "common/events/events.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/topics.hpp"
#include "common/rpc/client.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "inbox/service.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>

#include <unistd.h>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace std::chrono_literals;

namespace {

// A file with a token, gone at the end.
struct token_file
{
    std::string path = "/tmp/tempinbox-token-XXXXXX";

    token_file()
    {
        close(mkstemp(path.data()));
        std::ofstream(path) << "0123456789abcdef0123456789abcdef\n";
    }
    token_file(const token_file&) = delete;
    ~token_file() { unlink(path.c_str()); }
};

// The service on a database of its own, called as other services call it, and what it publishes.
struct running_service
{
    testing::scratch_database scratch{{"mailbox"}};
    token_file token;
    kafka::settings cluster;
    std::vector<kafka::record> events;
    std::unique_ptr<kafka::broadcast_reader> reader;
    std::unique_ptr<inbox::service> service;
    std::unique_ptr<rpc::tokens> tokens;
    std::unique_ptr<rpc::client> client;

    running_service()
    {
        auto& host = testing::test_host();
        cluster.brokers = testing::test_brokers();
        const std::vector<std::string> topics{events::topics::inbox_created, events::topics::inbox_expired};
        std::vector<kafka::topic_spec> wanted;
        for (const auto* name : {events::topics::inbox_created, events::topics::inbox_expired, events::topics::account_state})
            wanted.push_back({name, 3, 1, {}});
        kafka::apply_topics(cluster, wanted, 20s).value();
        reader =
            std::make_unique<kafka::broadcast_reader>(host, cluster, topics, [this](const std::vector<kafka::record>& batch) {
                events.insert(events.end(), batch.begin(), batch.end());
            });
        reader->start();
        if (!testing::eventually([this] { return reader->is_current(); }, 20s))
            throw std::runtime_error("the events cannot be read");

        settings chosen;
        chosen.database.dsn = scratch.dsn();
        chosen.kafka = cluster;
        chosen.rpc_listen = host_port("127.0.0.1", 0);
        chosen.rpc_token_file = token.path;
        chosen.purge_interval = 50ms;
        service = std::make_unique<inbox::service>(host, chosen);
        service->start();
        tokens = std::make_unique<rpc::tokens>(token.path);
        client = std::make_unique<rpc::client>(host, std::vector<host_port>{service->rpc_address()}, *tokens);
    }
    running_service(const running_service&) = delete;

    ~running_service()
    {
        testing::await(service->drain());
        reader->stop();
    }

    template <class Response, class Request>
    result<Response> call(const std::string& method, Request request)
    {
        const auto path = "tempinbox.inbox.v1.InboxService/" + method;
        return testing::await(client->call<Response>(path.c_str(), std::move(request), 5s));
    }

    void add_domain()
    {
        v1::AddDomainRequest request;
        request.set_domain("mail.test");
        call<v1::AddDomainResponse>("AddDomain", request).value();
    }

    result<v1::CreateInboxResponse> create(const std::string& account)
    {
        v1::CreateInboxRequest request;
        request.mutable_account()->set_account_id(account);
        request.mutable_account()->set_version(1);
        auto& limits = *request.mutable_account()->mutable_limits();
        limits.set_live_inboxes(3);
        limits.set_default_ttl_seconds(3'600);
        limits.set_max_ttl_seconds(86'400);
        request.set_inbox_id(inbox_id::make().text());
        return call<v1::CreateInboxResponse>("CreateInbox", request);
    }

    // The event of an inbox once it is on its topic.
    const kafka::record* wait_for(const std::string& topic, const std::string& inbox)
    {
        const kafka::record* found = nullptr;
        testing::eventually([&] {
            for (const auto& each : events)
                if (each.topic == topic && each.key == inbox)
                    found = &each;
            return found != nullptr;
        });
        return found;
    }
};

} // namespace

TEST_CASE("an inbox made by RPC can be read and listed, and its event is published", "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();

    const auto made = running.create(account).value().inbox();
    v1::GetInboxRequest get;
    get.set_account_id(account);
    get.set_inbox_id(made.inbox_id());
    v1::ListInboxesRequest list;
    list.set_account_id(account);

    CHECK(running.call<v1::GetInboxResponse>("GetInbox", get).value().inbox().email_address() == made.email_address());
    CHECK(running.call<v1::ListInboxesResponse>("ListInboxes", list).value().inboxes_size() == 1);
    const auto* event = running.wait_for("inbox.created", made.inbox_id());
    REQUIRE(event != nullptr);
    CHECK(events::read_inbox_created(*event).value().email_address() == made.email_address());
    CHECK(testing::eventually([&] { return running.scratch.execute("SELECT 1 FROM mailbox.outbox").empty(); }));
}

TEST_CASE("an inbox ends when it is due, and its event is published within two seconds", "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();

    running.scratch.execute("UPDATE mailbox.inboxes SET expires_at = now() + interval '700 ms'");
    const auto* event = running.wait_for("inbox.expired", made.inbox_id());

    REQUIRE(event != nullptr);
    const auto expired = events::read_inbox_expired(*event).value();
    CHECK(expired.reason() == events::v1::EXPIRY_REASON_TTL);
    const auto due_millis = expired.expired_at().seconds() * 1'000 + expired.expired_at().nanos() / 1'000'000;
    CHECK(event->timestamp_millis - due_millis < 2'000);
    CHECK(event->timestamp_millis >= due_millis);
}

TEST_CASE("an inbox can be ended by its account alone, and its mail is gone from the disk soon after", "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make().text();
    const auto made = running.create(account).value().inbox();
    running.scratch.execute("UPDATE mailbox.inboxes SET last_sequence = 1, email_count = 1");
    running.scratch.execute(
        "INSERT INTO mailbox.emails SELECT account_id, '" + email_id::make().text() +
        "', inbox_id, 1, now(), '', '', '', '', null, '{}', '{}', '', '', '', null, 0, 0, '[]', '[]', '{}', false, '', now(), "
        "gen_random_uuid(), false, 'sql' FROM mailbox.inboxes");
    v1::DeleteInboxRequest request;
    request.set_inbox_id(made.inbox_id());

    request.set_account_id(account_id::make().text());
    const auto by_another = running.call<v1::DeleteInboxResponse>("DeleteInbox", request);
    request.set_account_id(account);
    const auto by_owner = running.call<v1::DeleteInboxResponse>("DeleteInbox", request);
    const auto again = running.call<v1::DeleteInboxResponse>("DeleteInbox", request);

    CHECK(by_another.error().code == errc::not_found);
    CHECK(by_owner);
    CHECK(again.error().code == errc::not_found);
    CHECK(running.wait_for("inbox.expired", made.inbox_id()) != nullptr);
    CHECK(testing::eventually([&] { return running.scratch.execute("SELECT 1 FROM mailbox.emails").empty(); }));
}

TEST_CASE("events of a process that died are published by another", "[inbox][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    mailbox::inbox_store dead(running.scratch.db(), "dead process");
    mailbox::new_inbox wanted;
    wanted.account.account = account_id::make();
    wanted.id = inbox_id::make();
    testing::await(dead.create(wanted, system_clock_source{}.now())).value();

    running.scratch.execute("UPDATE mailbox.outbox SET lease_until = now() - interval '1 second' WHERE owner = 'dead process'");

    CHECK(running.wait_for("inbox.created", wanted.id.text()) != nullptr);
}

TEST_CASE("plans and limits are taken from account.state", "[inbox][postgres][kafka]")
{
    running_service running;
    plans::account_state state;
    state.account = account_id::make();
    state.version = 17;
    kafka::producer producer(testing::test_host(), running.cluster);

    producer.send(events::make_row(state, event_id::make(), trace::traceparent::make()).message, [](bool) {});
    CHECK(testing::eventually(
        [&] {
            return !running.scratch
                        .execute("SELECT 1 FROM mailbox.account_state WHERE version = 17 AND account_id = '" +
                                 state.account.text() + "'")
                        .empty();
        },
        30s));

    kafka::message tombstone;
    tombstone.topic = events::topics::account_state;
    tombstone.key = state.account.text();
    tombstone.is_tombstone = true;
    producer.send(std::move(tombstone), [](bool) {});
    CHECK(testing::eventually([&] {
        return !running.scratch
                    .execute("SELECT 1 FROM mailbox.account_state WHERE version = 18 AND account_id = '" + state.account.text() +
                             "'")
                    .empty();
    }));
    CHECK(running.create(state.account.text()).error().code == errc::permission_denied);
}

TEST_CASE("a call without the token is refused", "[inbox][postgres][kafka]")
{
    running_service running;
    token_file wrong;
    std::ofstream(wrong.path) << "another token of enough length\n";
    rpc::tokens tokens(wrong.path);
    rpc::client client(testing::test_host(), {running.service->rpc_address()}, tokens);
    v1::ListDomainsRequest request;

    const auto refused =
        testing::await(client.call<v1::ListDomainsResponse>("tempinbox.inbox.v1.InboxService/ListDomains", request));

    CHECK(refused.error().code == errc::unauthenticated);
}
