#include "common/credentials/capture_login.hpp"
#include "integration/mail-ingest/mail_server.hpp"
#include "mailbox/fault_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <catch2/catch.hpp>

#include <chrono>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using namespace std::chrono_literals;
using faults::schedule;
using faults::stage;
using faults::step;
using kind = faults::schedule::kind;
using smtp::port_kind;
using testing::mail_client;
using testing::mail_server;

namespace {

const std::string later = "451 4.7.1 Try again later";
const std::string recipient_ok = "250 2.1.5 Recipient ok";

step refusal(stage at, std::string reply, schedule when = {})
{
    step made;
    made.at = at;
    made.reply = std::move(reply);
    made.when = when;
    return made;
}

step delay(stage at, std::chrono::seconds time)
{
    step made;
    made.at = at;
    made.delay = time;
    return made;
}

step cut(faults::cut_kind kept, schedule when = {})
{
    step made;
    made.at = stage::end;
    made.cut = kept;
    made.when = when;
    return made;
}

// A transaction of its own, which adds what it meets.
awaitable<void> count_played(mail_ingest::fault_player& faults, mailbox::fault_claim claim,
                             int& played)
{
    mail_ingest::fault_memory met;
    const auto fault = co_await faults.play(std::move(claim), met);
    if (fault)
        ++played;
}

double metric(const std::string& name)
{
    return testing::shown_metric(name);
}

double not_played(const std::string& reason)
{
    return metric("tempinbox_mail_ingest_faults_not_played_total{reason=\"" + reason + "\"}");
}

smtp::submission_settings clear_submission()
{
    smtp::submission_settings chosen;
    chosen.clear_listen = {host_port("127.0.0.1", 0)};
    chosen.clear_networks = {network::parse("127.0.0.0/8").value()};
    return chosen;
}

struct replica : mail_server
{
    explicit replica(const std::string& dsn)
        : mail_server(dsn, {}, {}, {}, {}, {}, clear_submission())
    {}

    // Waits until this replica knows for what stages an inbox has steps.
    void await_stages(const mailbox::inbox& of, const std::vector<step>& steps)
    {
        const auto expected = faults::stages_of(steps).bits();
        if (!testing::eventually([&] { return core.faults.stages_of(of.id).bits() == expected; },
                                 1s))
            throw std::runtime_error("the faults are not in force within a second");
    }
};

// An inbox that plays faults, one with a login, and a neighbour's.
struct fault_world : mailbox::seeds::world
{
    plans::account_state account = with_captures();
    plans::account_state neighbour = mailbox::seeds::account();
    mailbox::fault_repository faults{scratch.db()};
    mailbox::login_repository logins{scratch.db()};
    mailbox::inbox ours = create(account, "ours");
    mailbox::inbox staging = create(account, "staging");
    mailbox::inbox others = create(neighbour, "others");
    std::string password = credentials::make_capture_password().reveal();
    std::string user = give_login();
    replica server{scratch.dsn()};

    static plans::account_state with_captures()
    {
        auto state = mailbox::seeds::account();
        state.limits.captures = 5;
        return state;
    }

    std::string give_login()
    {
        return testing::await(
                   logins.create(account, staging.id,
                                 {login_id::make(), credentials::capture_password_digest(password)},
                                 mailbox::seeds::now()))
            .value()
            .user;
    }

    void set(const mailbox::inbox& of, const std::vector<step>& steps)
    {
        testing::await(faults.replace(of.account, of.id, steps)).value();
        server.await_stages(of, steps);
    }
    std::vector<std::int64_t> used(const mailbox::inbox& of)
    {
        return testing::await(faults.find(of.account, of.id)).value().used;
    }
    std::int64_t emails(const mailbox::inbox& of) { return read(of).email_count; }
    // Why mail for the inbox was refused on purpose, as its owner reads it.
    std::vector<std::string> refusals(const mailbox::inbox& of)
    {
        std::vector<std::string> replies;
        testing::eventually([&] {
            replies.clear();
            for (const auto& one :
                 testing::await(inboxes.list_rejections(of.account, of.id)).value())
                if (one.reason == "fault")
                    replies.push_back(one.reply + " x" + std::to_string(one.attempts));
            return !replies.empty();
        });
        return replies;
    }

    std::string rcpt(const std::string& recipient)
    {
        mail_client client(server.listener.local_address());
        client.begin({});
        return client.say("RCPT TO:<" + recipient + ">");
    }
    std::string send(const std::vector<std::string>& recipients)
    {
        mail_client client(server.listener.local_address());
        return client.begin(recipients).deliver();
    }
    host_port submission() const { return server.listener.address(port_kind::submission_clear); }
};

} // namespace

TEST_CASE("two attempts are deferred and the third arrives, whichever replica they come to",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    replica second(world.scratch.dsn());
    const std::vector<step> steps{refusal(stage::rcpt, later, {kind::times, 2})};
    world.set(world.ours, steps);
    second.await_stages(world.ours, steps);
    const auto played = metric("tempinbox_mail_ingest_faults_total{stage=\"rcpt\"}");

    CHECK(world.rcpt("ours@mail.test") == later);
    mail_client there(second.listener.local_address());
    there.begin({});
    CHECK(there.say("RCPT TO:<ours@mail.test>") == later);
    CHECK(there.say("RCPT TO:<others@mail.test>") == recipient_ok);
    CHECK(there.say("RCPT TO:<ours+tag@mail.test>") == later); // the same transaction
    CHECK(there.say("RSET").starts_with("250"));
    CHECK(there.say("MAIL FROM:<ann@sender.test>").starts_with("250"));
    CHECK(there.say("RCPT TO:<ours@mail.test>") == recipient_ok);
    CHECK(there.deliver().starts_with("250"));

    CHECK(world.used(world.ours) == std::vector<std::int64_t>{2});
    CHECK(world.emails(world.ours) == 1);
    // Each replica writes its own.
    CHECK(testing::eventually(
        [&] { return world.refusals(world.ours) == std::vector<std::string>{later + " x3"}; }));
    CHECK(metric("tempinbox_mail_ingest_faults_total{stage=\"rcpt\"}") == played + 3);
}

TEST_CASE("the seconds of a fault are PostgreSQL's, whatever the clock of a replica says",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    replica second(world.scratch.dsn());
    const std::vector<step> steps{refusal(stage::rcpt, later, {kind::for_seconds, 30})};
    world.set(world.ours, steps);
    second.await_stages(world.ours, steps);
    const auto at_second = [&] {
        mail_client client(second.listener.local_address());
        client.begin({});
        return client.say("RCPT TO:<ours@mail.test>");
    };

    CHECK(world.rcpt("ours@mail.test") == later);
    second.clock.set_ahead(55s);
    CHECK(at_second() == later);
    world.scratch.execute("UPDATE mailbox.fault_counts SET since = since - interval '30 seconds'");
    CHECK(world.rcpt("ours@mail.test") == recipient_ok);
    second.clock.set_ahead(-55s);
    CHECK(at_second() == recipient_ok);
    CHECK(world.used(world.ours) == std::vector<std::int64_t>{2});
}

TEST_CASE("metrics of faults begin at 0", "[mail-ingest][postgres][faults]")
{
    fault_world world;
    const auto shown = testing::test_host().metrics().text();

    for (const auto* series :
         {"total{stage=\"auth\"}", "total{stage=\"end\"}",
          "not_played_total{reason=\"shared_transaction\"}",
          "not_played_total{reason=\"no_answer\"}", "not_played_total{reason=\"too_many_delays\"}",
          "not_played_total{reason=\"too_many_recipients\"}"})
        CHECK(shown.find("\ntempinbox_mail_ingest_faults_" + std::string(series) + " ") !=
              std::string::npos);
}

TEST_CASE("faults end at once, and those of an inbox without any cost nothing",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {refusal(stage::rcpt, later)});
    CHECK(world.rcpt("ours@mail.test") == later);
    CHECK(world.rcpt("others@mail.test") == recipient_ok);

    world.set(world.ours, {});
    CHECK(world.rcpt("ours@mail.test") == recipient_ok);
    CHECK(world.server.core.faults.stages_of(world.ours.id).empty());
}

TEST_CASE("a message for a neighbour too meets no fault at DATA or at its end",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {refusal(stage::data, later), refusal(stage::end, "452 4.2.2 Full")});
    const auto shared = not_played("shared_transaction");

    CHECK(world.send({"ours@mail.test", "others@mail.test"}).starts_with("250"));
    CHECK(world.emails(world.ours) == 1);
    CHECK(world.emails(world.others) == 1);
    CHECK(world.used(world.ours) == std::vector<std::int64_t>{0, 0});
    CHECK(not_played("shared_transaction") == shared + 2);

    CHECK(world.send({"ours@mail.test"}) == later);
    CHECK(world.emails(world.ours) == 1);
    CHECK(world.refusals(world.ours) == std::vector<std::string>{later + " x1"});
}

TEST_CASE("what a transaction has settled of its recipients is bounded",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    auto rare = refusal(stage::rcpt, later, {kind::every, faults::max_uses});
    rare.is_per_recipient = true;
    world.set(world.ours, std::vector<step>(faults::max_steps, rare));
    mail_ingest::fault_memory met;
    for (int i = 0; i < 110; ++i) {
        mailbox::fault_claim claim;
        claim.parts.push_back(
            {world.ours.account, world.ours.id, {std::to_string(i) + "@a.example"}, {}});
        const auto played =
            testing::await(world.server.core.faults.play(std::move(claim), met)).has_value();
        CHECK_FALSE(played);
    }

    CHECK(met.settled[world.ours.id].decided.size() == mail_ingest::fault_memory::max_settled);
    CHECK(world.count("fault_counts WHERE seen = 1") == 110 * 20);
}

TEST_CASE("the claim of a neighbour does not wait for messages with many recipients",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    const std::vector<step> steps{refusal(stage::end, later)};
    world.set(world.ours, steps);
    world.set(world.others, steps);
    int played = 0;
    const auto play = [&](const mailbox::inbox& of, std::size_t recipients) {
        mailbox::fault_claim claim;
        claim.at = stage::end;
        claim.parts.push_back(
            {of.account, of.id, std::vector<std::string>(recipients, "bob@a.example"), {}});
        boost::asio::co_spawn(testing::test_host().executor(),
                              count_played(world.server.core.faults, std::move(claim), played),
                              boost::asio::detached);
    };
    for (int i = 0; i < 20; ++i)
        play(world.ours, 100);
    play(world.others, 1);
    REQUIRE(testing::eventually([&] { return played == 21; }));

    // Each batch is one transaction, and the last of the twenty came in a later one.
    CHECK(world.count("fault_counts WHERE used = 20") == 1);
    CHECK(world.scratch.execute("SELECT count(DISTINCT xmin::text) FROM mailbox.fault_counts")[0][0]
              .as<int>() == 2);
}

TEST_CASE("a refusal at the end keeps nothing, nor does a cut", "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {refusal(stage::end, "452 4.2.2 Full", {kind::times, 1}),
                           cut(faults::cut_kind::unstored, {kind::times, 1})});
    const auto refused =
        metric("tempinbox_smtp_transactions_total{code_class=\"4xx\",result=\"fault\"}");
    const auto cut_off =
        metric("tempinbox_smtp_transactions_total{code_class=\"none\",result=\"fault\"}");
    const auto timed = metric("tempinbox_smtp_transaction_duration_seconds_count");

    CHECK(world.send({"ours@mail.test"}) == "452 4.2.2 Full");
    CHECK(world.send({"ours@mail.test"}) == "");
    CHECK(world.emails(world.ours) == 0);
    CHECK(world.send({"ours@mail.test"}).starts_with("250"));

    CHECK(world.emails(world.ours) == 1);
    CHECK(metric("tempinbox_smtp_transactions_total{code_class=\"4xx\",result=\"fault\"}") ==
          refused + 1);
    CHECK(metric("tempinbox_smtp_transactions_total{code_class=\"none\",result=\"fault\"}") ==
          cut_off + 1);
    CHECK(metric("tempinbox_smtp_transaction_duration_seconds_count") == timed + 1);
}

TEST_CASE("a message that was stored before the cut is one email when it comes again",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {cut(faults::cut_kind::stored, {kind::times, 1})});
    const std::string message = "Message-ID: <1@sender.test>\r\nSubject: hi\r\n\r\nhello\r\n";
    const auto send = [&] {
        mail_client client(world.server.listener.local_address());
        return client.begin({"ours@mail.test"}).deliver(message);
    };

    CHECK(send() == "");
    CHECK(world.emails(world.ours) == 1);
    CHECK(send().starts_with("250 2.0.0 Ok: queued as "));
    CHECK(world.emails(world.ours) == 1);
    CHECK(world.used(world.ours) == std::vector<std::int64_t>{1});
}

TEST_CASE("a login's inbox plays faults at AUTH, MAIL and any recipient",
          "[mail-ingest][postgres][faults][logins]")
{
    fault_world world;
    world.set(world.staging, {refusal(stage::auth, "454 4.7.0 Not now", {kind::times, 1}),
                              refusal(stage::mail, "421 4.7.0 Slower", {kind::above_per_minute, 2}),
                              refusal(stage::rcpt, "550 5.1.1 No such user", {kind::every, 2})});

    CHECK(mail_client(world.submission()).log_in(world.user, world.password) ==
          "454 4.7.0 Not now");
    mail_client client(world.submission());
    REQUIRE(client.log_in(world.user, world.password).starts_with("235"));
    CHECK(client.say("MAIL FROM:<a@b.test>").starts_with("250"));
    CHECK(client.say("RCPT TO:<any@body.example>") == recipient_ok);
    CHECK(client.deliver().starts_with("250"));
    CHECK(client.say("MAIL FROM:<a@b.test>").starts_with("250"));
    CHECK(client.say("RCPT TO:<any@body.example>") == "550 5.1.1 No such user");
    CHECK(client.say("RCPT TO:<some@body.example>") == "550 5.1.1 No such user");
    CHECK(client.say("RSET").starts_with("250"));
    CHECK(client.say("MAIL FROM:<a@b.test>") == "421 4.7.0 Slower");
    CHECK(client.has_ended());

    CHECK(world.used(world.staging) == std::vector<std::int64_t>{1, 1, 1});
    CHECK(world.emails(world.staging) == 1);
    // Of two senders: at AUTH there is none.
    CHECK(testing::eventually([&] { return world.refusals(world.staging).size() == 2; }));
}

TEST_CASE("a login that a fault refuses is counted as that, not as a good one",
          "[mail-ingest][postgres][faults][logins]")
{
    fault_world world;
    world.set(world.staging, {refusal(stage::auth, "454 4.7.0 Not now", {kind::times, 1}),
                              delay(stage::auth, 1s)});
    const auto logins = [](const std::string& result) {
        return metric("tempinbox_mail_ingest_logins_total{result=\"" + result + "\"}");
    };
    const auto good = logins("good"), refused = logins("fault");

    CHECK(mail_client(world.submission()).log_in(world.user, world.password) ==
          "454 4.7.0 Not now");
    CHECK(logins("good") == good);
    CHECK(logins("fault") == refused + 1);

    // One that waits is good.
    CHECK(mail_client(world.submission()).log_in(world.user, world.password).starts_with("235"));
    CHECK(logins("good") == good + 1);
    CHECK(logins("fault") == refused + 1);
}

TEST_CASE("mail from outside to an inbox with a login is never cut at a recipient",
          "[mail-ingest][postgres][faults][logins]")
{
    fault_world world;
    world.set(world.staging, {refusal(stage::rcpt, "421 4.7.0 Enough")});

    CHECK(world.rcpt("staging@mail.test") == recipient_ok);
    mail_client client(world.submission());
    client.log_in(world.user, world.password);
    client.say("MAIL FROM:<a@b.test>");
    CHECK(client.say("RCPT TO:<a@b.test>") == "421 4.7.0 Enough");
    CHECK(world.used(world.staging) == std::vector<std::int64_t>{1});
}

TEST_CASE("of an account ten replies wait at once, others come at once",
          "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {delay(stage::rcpt, 30s)});
    const auto too_many = not_played("too_many_delays");
    std::list<mail_client> waiting;
    for (int i = 0; i < 10; ++i) {
        waiting.emplace_back(world.server.listener.local_address()).begin({});
        waiting.back().send("RCPT TO:<ours@mail.test>\r\n");
    }
    const auto claimed = [&] { return world.used(world.ours) == std::vector<std::int64_t>{10}; };
    REQUIRE(testing::eventually(claimed));

    CHECK(world.rcpt("ours@mail.test") == recipient_ok);
    CHECK(world.rcpt("others@mail.test") == recipient_ok);
    CHECK(not_played("too_many_delays") == too_many + 1);

    // A client that hangs up gives its place back.
    waiting.pop_front();
    const auto waits = [&] {
        mail_client next(world.server.listener.local_address());
        next.begin({});
        const auto left_out_before = not_played("too_many_delays");
        const auto used_before = world.used(world.ours).at(0);
        next.send("RCPT TO:<ours@mail.test>\r\n");
        testing::eventually([&] { return world.used(world.ours).at(0) > used_before; });
        return not_played("too_many_delays") == left_out_before;
    };
    CHECK(testing::eventually(waits));
}

TEST_CASE("a delay ends with the process", "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {delay(stage::end, 300s)});
    mail_client client(world.server.listener.local_address());
    client.begin({"ours@mail.test"});
    client.say("DATA");
    client.send("Subject: hi\r\n\r\nhello\r\n.\r\n");
    REQUIRE(testing::eventually([&] { return world.emails(world.ours) == 1; }));

    testing::await(world.server.listener.drain(5s));

    CHECK(client.reply().starts_with("250 2.0.0 Ok: queued as "));
}

TEST_CASE("without an answer there is no fault", "[mail-ingest][postgres][faults]")
{
    fault_world world;
    world.set(world.ours, {refusal(stage::rcpt, later)});
    const auto unanswered = not_played("no_answer");
    testing::held_lock lock(world.scratch.dsn(), "LOCK TABLE mailbox.fault_counts");

    CHECK(world.rcpt("ours@mail.test") == recipient_ok);
    CHECK(not_played("no_answer") == unanswered + 1);
}
