#pragma once

#include "common/events/events.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/topics.hpp"
#include "common/rpc/client.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "inbox/service.hpp"
#include "integration/mailbox/seeds.hpp"
#include "mime/view.hpp"

#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace tempinbox::inbox {

using namespace std::chrono_literals;

// A file with a token, removed by the destructor.
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

// The service on a database of its own, called as other services call it, and the events it
// publishes.
struct running_service
{
    testing::scratch_database scratch{{"mailbox"}};
    mailbox::ingest_repository mail{testing::test_host(), scratch.db(), {}};
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
        const std::vector<std::string> topics{events::topics::inbox_created,
                                              events::topics::inbox_expired,
                                              events::topics::inbox_state};
        std::vector<kafka::topic_spec> specs;
        for (const auto* name : {events::topics::inbox_created, events::topics::inbox_expired,
                                 events::topics::inbox_state, events::topics::account_state})
            specs.push_back({name, 3, 1, {}});
        kafka::apply_topics(cluster, specs, 20s).value();
        reader = std::make_unique<kafka::broadcast_reader>(
            host, cluster, topics, [this](const std::vector<kafka::record>& batch) {
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
        chosen.search_bytes = 256 * 1024;
        service = std::make_unique<inbox::service>(host, chosen);
        service->start();
        // Rows that tests insert must not meet the creation of the partitions they belong in.
        const auto hours_left =
            "SELECT 1 FROM generate_series(0, 2) AS n WHERE to_regclass('mailbox.bodies_' || "
            "to_char(now() AT TIME ZONE 'UTC' + n * interval '1 hour', 'YYYYMMDD_HH24')) IS NULL";
        if (!testing::eventually([&] { return scratch.execute(hours_left).empty(); }, 20s))
            throw std::runtime_error("partitions are not made");
        tokens = std::make_unique<rpc::tokens>(token.path);
        client = std::make_unique<rpc::client>(host, std::vector<host_port>{service->rpc_address()},
                                               *tokens);
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
        return testing::await(
            client->call(rpc::method<Request, Response>{path}, std::move(request)));
    }

    void add_domain()
    {
        v1::AddDomainRequest request;
        request.set_domain("mail.test");
        call<v1::AddDomainResponse>("AddDomain", request).value();
    }

    result<v1::CreateInboxResponse> create(const std::string& account,
                                           const std::vector<std::string>& tags = {})
    {
        v1::CreateInboxRequest request;
        request.mutable_account()->set_account_id(account);
        request.mutable_account()->set_version(1);
        auto& limits = *request.mutable_account()->mutable_limits();
        limits.set_live_inboxes(3);
        limits.set_default_ttl_seconds(3'600);
        limits.set_max_ttl_seconds(86'400);
        request.set_inbox_id(inbox_id::make().text());
        request.mutable_tags()->Assign(tags.begin(), tags.end());
        return call<v1::CreateInboxResponse>("CreateInbox", request);
    }

    static mailbox::inbox as_stored(const std::string& account, const v1::Inbox& called)
    {
        mailbox::inbox inbox;
        inbox.account = account_id::parse(account).value();
        inbox.id = inbox_id::parse(called.inbox_id()).value();
        inbox.address = called.email_address();
        return inbox;
    }

    // Stores a message for the inbox, as mail-ingest does; returns its email's id.
    std::string add_email(const std::string& account, const v1::Inbox& to,
                          const std::string& raw = "mail")
    {
        const auto message = mailbox::seeds::make_message({as_stored(account, to)}, raw);
        auto seen = mime::read_view(raw).summary;
        message->subject = std::move(seen.subject);
        message->preview = std::move(seen.preview);
        message->attachment_count = 1;
        mailbox::seeds::store(mail, {message});
        return message->deliveries.front().id.text();
    }

    // The event of an inbox, once it is on its topic.
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

} // namespace tempinbox::inbox
