#include "common/rpc/timestamp.hpp"
#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::await;
using testing::mail_client;
using testing::mail_server;
using testing::record_of;

namespace {

const std::string unknown = "550 5.1.1 No such mailbox here";
const std::string accepted = "250 2.1.5 Recipient ok";

plans::account_state with_catch_alls()
{
    auto state = mailbox::seeds::account();
    state.limits.catch_alls = 3;
    return state;
}

// An account with a catch-all.
struct catch_all_world : mailbox::seeds::world
{
    plans::account_state account = with_catch_alls();
    mailbox::email_repository emails{scratch.db()};
    mailbox::inbox all = make_catch_all("ci.mail.test");

    mailbox::inbox make_catch_all(const std::string& domain)
    {
        await(domains.set_subdomains("mail.test", true)).value();
        return create_on(account, "*", domain);
    }
    void end(const mailbox::inbox& of) { await(endings.expire(of.account, of.id)).value(); }
    std::int64_t mail_in(const mailbox::inbox& of) { return read(of).email_count; }
    mailbox::stored_email find(const std::string& id)
    {
        return await(emails.find(account.account, email_id::parse(id).value())).value();
    }
};

kafka::record created_record(const mailbox::inbox& made)
{
    events::v1::InboxCreated event;
    event.set_inbox_id(made.id.text());
    event.set_account_id(made.account.text());
    event.set_email_address(made.address);
    *event.mutable_created_at() = rpc::to_timestamp(made.created_at);
    *event.mutable_expires_at() = rpc::to_timestamp(made.expires_at);
    return record_of(events::topics::inbox_created, event);
}

kafka::record expired_record(const mailbox::inbox& ended)
{
    events::v1::InboxExpired event;
    event.set_inbox_id(ended.id.text());
    event.set_account_id(ended.account.text());
    event.set_email_address(ended.address);
    return record_of(events::topics::inbox_expired, event);
}

// Delivers a mail to one recipient; returns the last reply.
std::string send(mail_server& server, const std::string& to)
{
    mail_client client(server.listener.local_address());
    return client.begin({to}).deliver();
}

} // namespace

TEST_CASE("a catch-all gets what is sent to any name of its subdomain, as given",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    const std::vector<std::string> recipients{"Ann+Tag@CI.mail.test", "bob@ci.mail.test",
                                              "*@ci.mail.test",       "\"o dd\"@ci.mail.test",
                                              "+x@ci.mail.test",      "x!y=z@ci.mail.test"};

    const auto reply = client.begin(recipients).deliver();

    REQUIRE(reply.starts_with("250 2.0.0 Ok: queued as "));
    CHECK(world.mail_in(world.all) == 1);
    CHECK(world.find(testing::queued_id(reply)).summary.rcpt_to == recipients);
}

TEST_CASE("names by which a subdomain is validated are not caught, the operator has its own",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    const auto operates = mailbox::seeds::account();
    await(world.inboxes.create_operator_inboxes(operates.account, "mail.test")).value();
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({});

    for (const std::string name : {"admin", "administrator", "Webmaster", "hostmaster", "root",
                                   "security", "ssladmin", "admin+tag", "\"admin\""})
        CHECK(client.say("RCPT TO:<" + name + "@ci.mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<admin2@ci.mail.test>") == accepted);
    CHECK(client.say("RSET") == "250 2.0.0 Ok");
    CHECK(client.say("MAIL FROM:<ca@example.test>") == "250 2.1.0 Sender ok");
    CHECK(client.say("RCPT TO:<postmaster@ci.mail.test>") == accepted);
    CHECK(client.say("RCPT TO:<Abuse@ci.mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
    CHECK(world.mail_in(world.all) == 0);
    CHECK(world.count("emails WHERE account_id = '" + operates.account.text() + "'") == 2);
}

TEST_CASE("a live named inbox comes before the catch-all, on every replica and at once",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    mail_server one(world.scratch.dsn()), other(world.scratch.dsn());
    CHECK(send(one, "ann@ci.mail.test").starts_with("250"));
    CHECK(send(other, "ann@ci.mail.test").starts_with("250"));
    CHECK(world.mail_in(world.all) == 2);

    const auto ann = world.create_on(world.account, "ann", "ci.mail.test");
    CHECK(send(one, "ann@ci.mail.test").starts_with("250"));
    CHECK(send(other, "Ann+x@ci.mail.test").starts_with("250"));
    CHECK(world.mail_in(ann) == 2);
    CHECK(world.mail_in(world.all) == 2);

    // Its address is in quarantine, and caught, before the event has come and after it.
    world.end(ann);
    CHECK(send(one, "ann@ci.mail.test").starts_with("250"));
    other.recipients.take_events({expired_record(ann)});
    CHECK(send(other, "ann@ci.mail.test").starts_with("250"));
    CHECK(world.mail_in(world.all) == 4);

    const auto again = world.create_on(world.account, "ann", "ci.mail.test");
    CHECK(send(one, "ann@ci.mail.test").starts_with("250"));
    CHECK(world.mail_in(again) == 1);
}

TEST_CASE("without a live catch-all a subdomain's names are unknown, whoever had it",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    const auto ann = world.create_on(world.account, "ann", "ci.mail.test");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({});
    CHECK(client.say("RCPT TO:<bob@other.mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<bob@a.ci.mail.test>") == "550 5.7.1 Relaying denied");
    CHECK(client.say("RCPT TO:<bob@mail.test>") == unknown);

    world.end(world.all);
    server.recipients.take_events({expired_record(world.all)});
    CHECK(client.say("RCPT TO:<bob@ci.mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<*@ci.mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<ann@ci.mail.test>") == accepted);
    world.end(ann);
    server.recipients.take_events({expired_record(ann)});
    CHECK(client.say("RCPT TO:<ann@ci.mail.test>") == unknown);
    CHECK(client.say("RCPT TO:<ann@ci.mail.test>") == unknown); // nor from the cache

    // Its holder may have it again meanwhile, and no refusal of before is in the way.
    const auto again = world.make_catch_all("ci.mail.test");
    CHECK(client.say("RCPT TO:<ann@ci.mail.test>") == accepted);
    CHECK(client.deliver().starts_with("250"));
    CHECK(world.mail_in(again) == 1);
}

TEST_CASE(
    "names below a domain are relaying until it takes subdomains, ours when it no longer does",
    "[mail-ingest][catch-all][postgres]")
{
    mailbox::seeds::world world;
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({});
    CHECK(client.say("RCPT TO:<bob@ci.mail.test>") == "550 5.7.1 Relaying denied");

    await(world.domains.set_subdomains("mail.test", true)).value();
    CHECK(testing::eventually([&] { return client.say("RCPT TO:<bob@ci.mail.test>") == unknown; }));
    const auto all = world.create_on(with_catch_alls(), "*", "ci.mail.test");
    await(world.domains.set_subdomains("mail.test", false)).value();

    mail_server other(world.scratch.dsn());
    CHECK(send(other, "bob@ci.mail.test").starts_with("250"));
    CHECK(world.read(all).email_count == 1);
}

TEST_CASE("a RCPT to a subdomain is one look-up, to a known address elsewhere none",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    const auto ann = world.create_on(world.account, "ann", "ci.mail.test");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    const auto box = world.create(world.account, "box");
    client.begin({"bob@ci.mail.test"});
    server.recipients.take_events(
        {created_record(ann), created_record(world.all), created_record(box)});
    const auto asked = [] {
        return testing::shown_metric("tempinbox_mail_ingest_lookups_total{source=\"database\"}");
    };

    const auto before = asked();
    CHECK(client.say("RCPT TO:<bob@ci.mail.test>") == accepted);
    CHECK(asked() == before + 1);
    CHECK(client.say("RCPT TO:<ann@ci.mail.test>") == accepted);
    CHECK(asked() == before + 2);
    CHECK(client.say("RCPT TO:<box@mail.test>") == accepted);
    CHECK(client.say("RCPT TO:<admin@ci.mail.test>") == unknown);
    CHECK(asked() == before + 2);
}

TEST_CASE("a catch-all that is full or ends before the commit is forgotten",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"*@ci.mail.test"});
    world.end(world.all);

    CHECK(client.deliver() == unknown);
    client.say("MAIL FROM:<>");
    CHECK(client.say("RCPT TO:<*@ci.mail.test>") == unknown);
    CHECK(world.count("emails") == 0);
}

TEST_CASE("a transaction to a named inbox and its catch-all is one email each",
          "[mail-ingest][catch-all][postgres]")
{
    catch_all_world world;
    const auto ann = world.create_on(world.account, "ann", "ci.mail.test");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());

    CHECK(client.begin({"x@ci.mail.test", "ann@ci.mail.test", "y@ci.mail.test", "x@ci.mail.test"})
              .deliver()
              .starts_with("250"));

    CHECK(world.mail_in(ann) == 1);
    CHECK(world.mail_in(world.all) == 1);
    const auto kept = world.scratch.execute(
        "SELECT array_to_string(rcpt_to, ' ') FROM mailbox.emails WHERE inbox_id = '" +
        world.all.id.text() + "'");
    CHECK(kept[0][0].as<std::string>() == "x@ci.mail.test y@ci.mail.test");
}
