#include "common/credentials/capture_login.hpp"
#include "common/postgres/dsn.hpp"
#include "common/testing/relay.hpp"
#include "integration/mail-ingest/mail_server.hpp"
#include "mailbox/account_state_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <list>

using namespace tempinbox;
using namespace std::chrono_literals;
using smtp::port_kind;
using testing::mail_client;
using testing::mail_server;

namespace {

const std::string good = "235 2.7.0 Authentication successful";
const std::string bad = "535 5.7.8 Authentication credentials invalid";
const std::string sender_ok = "250 2.1.0 Sender ok";
const std::string recipient_ok = "250 2.1.5 Recipient ok";
const std::string ended = "421 4.7.0 Login is no longer valid";

plans::account_state with_captures(int captures)
{
    auto state = mailbox::seeds::account();
    state.limits.captures = captures;
    return state;
}

// An account with one capture inbox, and a neighbour's live inbox.
struct capture_world : mailbox::seeds::world
{
    plans::account_state account = with_captures(5);
    plans::account_state neighbour = mailbox::seeds::account();
    mailbox::email_repository emails{scratch.db()};
    mailbox::login_repository logins{scratch.db()};
    mailbox::inbox staging = create(account, "staging");
    mailbox::inbox others = create(neighbour, "others");
    std::string password = credentials::make_capture_password().reveal();
    std::string user = give_login(staging, password);

    std::string give_login(const mailbox::inbox& inbox, const std::string& secret)
    {
        return testing::await(
                   logins.create(account, inbox.id,
                                 {login_id::make(), credentials::capture_password_digest(secret)},
                                 mailbox::seeds::now()))
            .value()
            .user;
    }
    void rotate(const std::string& secret, std::chrono::seconds grace)
    {
        testing::await(
            logins.rotate(account.account, staging.id,
                          {login_id::make(), credentials::capture_password_digest(secret), grace}))
            .value();
    }
    mailbox::stored_email find(const std::string& id)
    {
        return testing::await(emails.find(account.account, email_id::parse(id).value())).value();
    }
    std::vector<mailbox::rejection> rejections_of(const mailbox::inbox& inbox)
    {
        return testing::await(inboxes.list_rejections(account.account, inbox.id)).value();
    }
    std::int64_t emails_of_neighbour()
    {
        return testing::await(inboxes.find(neighbour.account, others.id)).value().email_count;
    }
};

smtp::submission_settings clear_submission()
{
    smtp::submission_settings chosen;
    chosen.clear_listen = {host_port("127.0.0.1", 0)};
    chosen.clear_networks = {network::parse("127.0.0.0/8").value()};
    chosen.session.takes_bare_newlines = true;
    return chosen;
}

struct submission_server : mail_server
{
    explicit submission_server(const std::string& dsn,
                               smtp::submission_settings chosen = clear_submission())
        : mail_server(dsn, {}, {}, {}, {}, {}, std::move(chosen))
    {}

    host_port clear() const { return listener.address(port_kind::submission_clear); }
};

double logins_looked_up()
{
    return testing::shown_metric("tempinbox_mail_ingest_login_lookups_total");
}

double logins_counted(const std::string& result)
{
    return testing::shown_metric("tempinbox_mail_ingest_logins_total{result=\"" + result + "\"}");
}

} // namespace

TEST_CASE("what is sent with a login lands in its inbox alone, whoever it is for",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    submission_server server(world.scratch.dsn());
    const auto good_before = logins_counted("good");
    mail_client client(server.clear());

    REQUIRE(client.log_in(world.user, world.password) == good);
    const std::vector<std::string> recipients{"alice@shop.example", "Bob+x@Other.example",
                                              "others@mail.test", "alice@shop.example"};
    CHECK(client.say("MAIL FROM:<ann@sender.test> AUTH=<>") == sender_ok);
    for (const auto& one : recipients)
        CHECK(client.say("RCPT TO:<" + one + ">") == recipient_ok);
    const auto reply = client.deliver();

    REQUIRE(reply.starts_with("250 2.0.0 Ok: queued as "));
    const auto email = world.find(testing::queued_id(reply));
    CHECK(email.summary.inbox == world.staging.id);
    CHECK(email.login == world.user);
    CHECK(email.summary.rcpt_to == std::vector<std::string>{"alice@shop.example",
                                                            "Bob+x@Other.example",
                                                            "others@mail.test"});
    CHECK(world.emails_of_neighbour() == 0);
    CHECK(logins_counted("good") == good_before + 1);
}

TEST_CASE("a message without login keeps none", "[mail-ingest][postgres][logins]")
{
    capture_world world;
    submission_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());

    const auto reply = client.begin({"staging@mail.test"}).deliver();

    CHECK_FALSE(world.find(testing::queued_id(reply)).login);
}

TEST_CASE("unknown, wrong, malformed and foreign logins look alike",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    const auto second = world.create(world.account, "second");
    const auto others_password = credentials::make_capture_password().reveal();
    world.give_login(second, others_password);
    submission_server server(world.scratch.dsn());

    for (const auto& [user, password] : std::vector<std::pair<std::string, std::string>>{
             {world.user, credentials::make_capture_password().reveal()},
             {world.user, others_password},
             {credentials::make_capture_user(), world.password},
             {world.user, "hunter2"},
             {"' OR 1=1 --", world.password},
             {"staging@mail.test", world.password}}) {
        mail_client client(server.clear());
        CHECK(client.log_in(user, password) == bad);
        CHECK(client.say("MAIL FROM:<a@b.test>") == "530 5.7.0 Authentication required");
    }
    mail_client client(server.clear());
    client.reply();
    client.say("EHLO x");
    CHECK(client.say("AUTH PLAIN " +
                     to_base64("someone" + ('\0' + world.user) + '\0' + world.password)) == bad);
}

TEST_CASE("a rotated password is good for its grace, then ends open sessions within a second",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    submission_server server(world.scratch.dsn());
    const auto next = credentials::make_capture_password().reveal();
    const auto last = credentials::make_capture_password().reveal();
    mail_client open(server.clear());
    REQUIRE(open.log_in(world.user, world.password) == good);

    world.rotate(next, 60s);
    CHECK(testing::eventually([&] {
        mail_client client(server.clear());
        return client.log_in(world.user, next) == good;
    }));
    mail_client old(server.clear());
    CHECK(old.log_in(world.user, world.password) == good);
    CHECK(open.say("MAIL FROM:<a@b.test>") == sender_ok);
    CHECK(open.say("RSET") == "250 2.0.0 Ok");

    world.rotate(last, 0s);
    const auto rotated_at = std::chrono::steady_clock::now();
    CHECK(testing::eventually(
        [&] {
            const auto reply = open.say("MAIL FROM:<a@b.test>");
            if (reply == sender_ok)
                open.say("RSET");
            return reply == ended;
        },
        5s));
    CHECK(std::chrono::steady_clock::now() - rotated_at < 1'500ms);
    CHECK(open.has_ended());
    mail_client refused(server.clear());
    CHECK(refused.log_in(world.user, world.password) == bad);
    mail_client renewed(server.clear());
    CHECK(renewed.log_in(world.user, last) == good);
}

TEST_CASE("a login that ends lets the message under way finish", "[mail-ingest][postgres][logins]")
{
    capture_world world;
    submission_server server(world.scratch.dsn());
    mail_client open(server.clear());
    REQUIRE(open.log_in(world.user, world.password) == good);
    CHECK(open.say("MAIL FROM:<a@b.test>") == sender_ok);
    CHECK(open.say("RCPT TO:<c@d.test>") == recipient_ok);

    testing::await(world.logins.end(world.account.account, world.staging.id)).value();
    CHECK(testing::eventually([&] {
        mail_client client(server.clear());
        return client.log_in(world.user, world.password) == bad;
    }));

    CHECK(open.deliver().starts_with("250 2.0.0 Ok: queued as "));
    CHECK(open.say("MAIL FROM:<a@b.test>") == ended);
}

TEST_CASE("logins past the plan's number are refused, and come back with it",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    const auto second = world.create(world.account, "second");
    const auto password = credentials::make_capture_password().reveal();
    const auto user = world.give_login(second, password);
    submission_server server(world.scratch.dsn());
    mailbox::account_state_repository states(world.scratch.db());
    const auto answers = [&](const std::string& expected) {
        return testing::eventually([&] {
            mail_client client(server.clear());
            return client.log_in(user, password) == expected;
        });
    };
    CHECK(answers(good));

    auto shrunk = world.account;
    shrunk.version = 2;
    shrunk.limits.captures = 1;
    testing::await(states.put({shrunk}));
    CHECK(answers(bad));
    mail_client oldest(server.clear());
    CHECK(oldest.log_in(world.user, world.password) == good);

    // The password was right until here: the first that its inbox shows is a wrong one.
    mail_client guesser(server.clear());
    CHECK(guesser.log_in(user, credentials::make_capture_password().reveal()) == bad);
    REQUIRE(testing::eventually([&] { return !world.rejections_of(second).empty(); }));
    CHECK(world.rejections_of(second).front().attempts == 1);

    shrunk.version = 3;
    shrunk.limits.captures = 2;
    testing::await(states.put({shrunk}));
    CHECK(answers(good));
}

TEST_CASE("without PostgreSQL a login is 454 and MAIL 451, and both recover",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    pqxx::connection probe(world.scratch.dsn());
    testing::relay between(
        host_port(probe.hostname(), static_cast<std::uint16_t>(std::stoi(probe.port()))));
    const auto at_relay =
        postgres::with_parameter(world.scratch.dsn(), "host", between.address().host);
    submission_server server(
        postgres::with_parameter(at_relay, "port", std::to_string(between.address().port)));
    mail_client open(server.clear()), waiting(server.clear());
    REQUIRE(open.log_in(world.user, world.password) == good);
    waiting.reply();
    waiting.say("EHLO x");

    between.cut();
    const auto auth = "AUTH PLAIN " + to_base64('\0' + world.user + '\0' + world.password);
    CHECK(testing::eventually([&] {
        const auto reply = open.say("MAIL FROM:<a@b.test>");
        if (reply == sender_ok)
            open.say("RSET");
        return reply == "451 4.3.0 Temporary failure, try again later";
    }));
    CHECK(waiting.say(auth) == "454 4.7.0 Temporary authentication failure");

    between.restore();
    CHECK(testing::eventually([&] { return waiting.say(auth) == good; }, 20s));
    CHECK(testing::eventually([&] { return open.say("MAIL FROM:<a@b.test>") == sender_ok; }, 20s));
}

TEST_CASE("the 21st session of a login is turned away, not taken for a wrong password",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    auto chosen = clear_submission();
    chosen.client_limits.connections_per_address = 200;
    submission_server server(world.scratch.dsn(), chosen);
    std::list<mail_client> clients;
    for (int i = 0; i < 20; ++i)
        REQUIRE(clients.emplace_back(server.clear()).log_in(world.user, world.password) == good);

    mail_client last(server.clear());
    CHECK(last.log_in(world.user, world.password) ==
          "421 4.7.0 Too many connections of this login");
    CHECK(last.has_ended());

    CHECK(clients.front().say("QUIT").starts_with("221"));
    CHECK(testing::eventually([&] {
        mail_client again(server.clear());
        return again.log_in(world.user, world.password) == good;
    }));
}

TEST_CASE("past its rate a login's MAIL waits, then is refused", "[mail-ingest][postgres][logins]")
{
    capture_world world;
    auto chosen = clear_submission();
    SECTION("a token comes in time")
    {
        chosen.logins.messages_per_minute = 300;
        chosen.logins.message_burst = 1;
        submission_server server(world.scratch.dsn(), chosen);
        mail_client client(server.clear());
        REQUIRE(client.log_in(world.user, world.password) == good);
        const auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < 3; ++i) {
            CHECK(client.say("MAIL FROM:<a@b.test>") == sender_ok);
            client.say("RSET");
        }
        CHECK(std::chrono::steady_clock::now() - began >= 390ms);
    }
    SECTION("none does")
    {
        chosen.logins.messages_per_minute = 1;
        chosen.logins.message_burst = 1;
        chosen.logins.max_rate_wait = 50ms;
        submission_server server(world.scratch.dsn(), chosen);
        mail_client client(server.clear());
        REQUIRE(client.log_in(world.user, world.password) == good);
        CHECK(client.say("MAIL FROM:<a@b.test>") == sender_ok);
        client.say("RSET");
        CHECK(client.say("MAIL FROM:<a@b.test>") ==
              "450 4.2.1 Mailbox receives too much mail just now");
        CHECK(client.say("NOOP") == "250 2.0.0 Ok");
    }
}

TEST_CASE("the port in the clear serves its networks alone", "[mail-ingest][postgres][logins]")
{
    capture_world world;
    auto chosen = clear_submission();
    chosen.clear_networks = {network::parse("127.0.0.2/32").value()};
    submission_server server(world.scratch.dsn(), chosen);

    mail_client near(server.clear(), "127.0.0.2");
    CHECK(near.log_in(world.user, world.password) == good);
    mail_client far(server.clear(), "127.0.0.1");
    CHECK(far.reply() == "554 5.7.1 No service for your network");
    CHECK(far.has_ended());
}

TEST_CASE("a port for balancers limits logins by the client that the header announces",
          "[mail-ingest][postgres][logins][proxy]")
{
    capture_world world;
    smtp::proxy_settings balancers;
    balancers.submission_listen = {host_port("127.0.0.1", 0)};
    balancers.networks = {network::parse("127.0.0.0/8").value()};
    auto chosen = clear_submission();
    chosen.client_limits.connections_per_address = 1;
    mail_server server(world.scratch.dsn(), {}, {}, {}, {}, balancers, chosen);
    const auto address = server.listener.address(port_kind::submission, true);
    mail_client first(address), second(address), other(address);

    first.send("PROXY TCP4 198.51.100.1 192.0.2.25 56324 587\r\n");
    CHECK(first.reply().starts_with("220 "));
    second.send("PROXY TCP4 198.51.100.1 192.0.2.25 56325 587\r\n");
    CHECK(second.reply() == "421 4.7.0 Too many connections from your address");
    other.send("PROXY TCP4 198.51.100.2 192.0.2.25 56324 587\r\n");
    CHECK(other.reply().starts_with("220 "));
    other.say("EHLO x");
    CHECK(other.say("AUTH LOGIN") == "530 5.7.0 Must issue a STARTTLS command first");
}

TEST_CASE("connections for logins count apart", "[mail-ingest][postgres][logins]")
{
    capture_world world;
    auto chosen = clear_submission();
    chosen.client_limits.connections = 1;
    submission_server server(world.scratch.dsn(), chosen);
    mail_client first(server.clear());
    CHECK(first.reply().starts_with("220 "));
    mail_client second(server.clear());
    CHECK(second.reply() == "421 4.3.2 Too many connections, try again later");
    mail_client mail(server.listener.local_address());
    CHECK(mail.reply().starts_with("220 "));
}

TEST_CASE("wrong passwords for a known user are among its inbox's rejections",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    submission_server server(world.scratch.dsn());
    mail_client client(server.clear());
    CHECK(client.log_in(world.user, credentials::make_capture_password().reveal()) == bad);

    CHECK(testing::eventually([&] {
        const auto listed = world.rejections_of(world.staging);
        return listed.size() == 1 && listed.front().reason == "bad_login" &&
               listed.front().reply == bad && listed.front().attempts == 1;
    }));
}

TEST_CASE("what has the wrong form is not looked up", "[mail-ingest][postgres][logins]")
{
    capture_world world;
    submission_server server(world.scratch.dsn());
    const auto before = logins_looked_up();
    for (const auto& user : {std::string("staging@mail.test"), world.user + "x", world.password}) {
        mail_client client(server.clear());
        CHECK(client.log_in(user, world.password) == bad);
    }
    for (const auto& password : {std::string("hunter2"), world.password.substr(0, 20)}) {
        mail_client client(server.clear());
        CHECK(client.log_in(world.user, password) == bad);
    }
    CHECK(logins_looked_up() == before);

    mail_client client(server.clear());
    CHECK(client.log_in(world.user, credentials::make_capture_password().reveal()) == bad);
    CHECK(logins_looked_up() == before + 1);
    // What came before it has been recorded, too.
    CHECK(testing::eventually([&] { return !world.rejections_of(world.staging).empty(); }));
    CHECK(world.count("rejections") == 1);
}

TEST_CASE("a good login renews its inbox once a tenth of its life has passed",
          "[mail-ingest][postgres][logins]")
{
    capture_world world;
    world.account.version = 2;
    world.account.limits.api_access = true;
    mailbox::new_inbox requested;
    requested.account = world.account;
    requested.id = inbox_id::make();
    requested.ttl = 1h;
    const auto password = credentials::make_capture_password().reveal();
    requested.login = {login_id::make(), credentials::capture_password_digest(password)};
    const auto fresh =
        testing::await(world.inboxes.create(requested, mailbox::seeds::now())).value().inbox;
    REQUIRE(fresh.renews_on_use);
    const auto age = [&](const std::string& minutes) {
        for (const auto* column : {"created_at", "first_expires_at", "expires_at"})
            world.scratch.execute("UPDATE mailbox.inboxes SET " + std::string(column) + " = " +
                                  column + " - interval '" + minutes +
                                  " minutes' WHERE inbox_id = '" + fresh.id.text() + "'");
        world.scratch.execute("UPDATE mailbox.capture_logins SET version = "
                              "mailbox.next_capture_version()");
        return world.read(fresh).expires_at;
    };
    const auto young = age("5"), old = age("2");
    submission_server server(world.scratch.dsn());
    const auto send = [&] {
        mail_client client(server.clear());
        REQUIRE(client.log_in(fresh.login->user, password) == good);
        client.say("MAIL FROM:<ann@sender.test>");
        client.say("RCPT TO:<alice@shop.example>");
        REQUIRE(client.deliver().starts_with("250"));
    };
    CHECK(young > old);

    send();

    REQUIRE(testing::eventually([&] { return world.read(fresh).expires_at > old; }, 20s));
    const auto renewed = world.read(fresh).expires_at;
    CHECK(renewed > mailbox::seeds::now() + 59min);
    CHECK(world.count("outbox WHERE topic = 'inbox.state' AND key = '" + fresh.id.text() + "'") ==
          2);
    CHECK(world.count("outbox WHERE topic = 'inbox.created' AND key = '" + fresh.id.text() + "'") ==
          1);
}
