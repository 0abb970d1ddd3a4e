#include "common/credentials/capture_login.hpp"
#include "integration/mail-ingest/mail_server.hpp"
#include "mail-ingest/attempts/attempt_recorder.hpp"
#include "mailbox/attempt_repository.hpp"
#include "mailbox/fault_repository.hpp"
#include "mailbox/login_repository.hpp"

#include <catch2/catch.hpp>

#include <chrono>
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
using mailbox::session_end;
using mailbox::stored_attempt;
using smtp::port_kind;
using testing::await;
using testing::mail_client;
using testing::mail_server;

namespace {

const std::string later = "451 4.7.1 Try again later";
const std::string mail_with_id = "Message-ID: <1@sender.test>\r\nSubject: hi\r\n\r\nhello\r\n";

step refusal(stage at, std::string reply, schedule when = {})
{
    step made;
    made.at = at;
    made.reply = std::move(reply);
    made.when = when;
    return made;
}

step to(std::string recipient, step made)
{
    made.to = std::move(recipient);
    return made;
}

smtp::submission_settings clear_submission()
{
    smtp::submission_settings chosen;
    chosen.clear_listen = {host_port("127.0.0.1", 0)};
    chosen.clear_networks = {network::parse("127.0.0.0/8").value()};
    return chosen;
}

struct logged_in_client : mail_client
{
    logged_in_client(const host_port& server, const std::string& user, const std::string& password)
        : mail_client(server)
    {
        if (!log_in(user, password).starts_with("235"))
            throw std::runtime_error("the login is refused");
    }
};

// An inbox that plays faults, one with a login, a catch-all, and one whose senders nobody watches.
struct attempt_world : mailbox::seeds::world
{
    plans::account_state account = with_all();
    plans::account_state neighbour = mailbox::seeds::account();
    mailbox::fault_repository faults{scratch.db()};
    mailbox::login_repository logins{scratch.db()};
    mailbox::attempt_repository attempts{scratch.db()};
    mailbox::inbox ours = create(account, "ours");
    mailbox::inbox staging = create(account, "staging");
    mailbox::inbox all = make_catch_all();
    mailbox::inbox plain = create(neighbour, "plain");
    std::string password = credentials::make_capture_password().reveal();
    std::string user = give_login();
    mail_server server{scratch.dsn(), {}, {}, {}, {}, {}, clear_submission()};

    static plans::account_state with_all()
    {
        auto state = mailbox::seeds::account();
        state.limits.captures = 5;
        state.limits.catch_alls = 5;
        return state;
    }
    mailbox::inbox make_catch_all()
    {
        await(domains.set_subdomains("mail.test", true)).value();
        return create_on(account, "*", "ci.mail.test");
    }
    std::string give_login()
    {
        return await(
                   logins.create(account, staging.id,
                                 {login_id::make(), credentials::capture_password_digest(password)},
                                 mailbox::seeds::now()))
            .value()
            .user;
    }
    void set(const mailbox::inbox& of, const std::vector<step>& steps)
    {
        await(faults.replace(of.account, of.id, steps)).value();
        const auto expected = faults::stages_of(steps).bits();
        if (!testing::eventually(
                [&] { return server.core.faults.stages_of(of.id).bits() == expected; }, 1s))
            throw std::runtime_error("the faults are not in force within a second");
    }

    // Once there are as many; throws if there never are.
    std::vector<stored_attempt> attempts_of(const mailbox::inbox& of, std::size_t count)
    {
        std::vector<stored_attempt> found;
        testing::eventually([&] {
            found = await(attempts.find(of.account, of.id)).value();
            return found.size() >= count;
        });
        if (found.size() != count)
            throw std::runtime_error("there are " + std::to_string(found.size()) + " attempts");
        return found;
    }
    stored_attempt only_attempt_of(const mailbox::inbox& of) { return attempts_of(of, 1).front(); }
    // Once its end is noted.
    std::optional<session_end> end_of(const mailbox::inbox& of)
    {
        std::optional<session_end> end;
        testing::eventually([&] {
            end = await(attempts.find(of.account, of.id)).value().back().end;
            return end.has_value();
        });
        return end;
    }

    mail_client connect() { return mail_client(server.listener.local_address()); }
    logged_in_client submit()
    {
        return {server.listener.address(port_kind::submission_clear), user, password};
    }
};

double dropped_attempts()
{
    return testing::shown_metric("tempinbox_mail_ingest_attempts_dropped_total");
}

std::vector<std::string> unplayed_of(const stored_attempt& attempt)
{
    std::vector<std::string> all;
    for (const auto& each : attempt.what.unplayed())
        all.push_back(each.stage() + " " + each.reason());
    return all;
}

} // namespace

TEST_CASE("what is sent to captures, catch-alls and inboxes with faults is recorded, nothing else",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    world.set(world.ours, {refusal(stage::rcpt, later, {kind::times, 1})});
    auto outside = world.connect();
    outside.begin({"ours@mail.test", "plain@mail.test", "Any+1@ci.mail.test"});
    CHECK(outside.deliver(mail_with_id).starts_with("250"));
    auto again = world.connect();
    CHECK(again.begin({"plain@mail.test"}).deliver().starts_with("250"));
    auto inside = world.submit();
    inside.say("MAIL FROM:<a@b.test> SIZE=100");
    inside.say("RCPT TO:<any@body.example>");
    const auto queued = inside.deliver(mail_with_id);
    CHECK(queued.starts_with("250"));

    const auto of_ours = world.only_attempt_of(world.ours);
    CHECK(of_ours.what.stage() == "rcpt");
    CHECK(of_ours.what.reply() == later);
    CHECK(of_ours.what.step() == 0);
    CHECK(of_ours.what.message_id() == "<1@sender.test>"); // it went on for others
    CHECK(of_ours.what.remote_address() == "127.0.0.1");
    REQUIRE(of_ours.what.recipients_size() == 1);
    CHECK(of_ours.what.recipients(0).is_refused());
    const auto of_all = world.only_attempt_of(world.all);
    CHECK(of_all.what.stage() == "end");
    CHECK(of_all.what.recipients(0).address() == "Any+1@ci.mail.test");
    CHECK(of_all.what.code() == 250);
    CHECK_FALSE(of_all.what.email_id().empty());
    const auto of_staging = world.only_attempt_of(world.staging);
    CHECK(of_staging.what.login() == world.user);
    CHECK(of_staging.what.has_size());
    CHECK(of_staging.what.mail_from() == "a@b.test");
    CHECK(of_staging.what.email_id() == testing::queued_id(queued));
    CHECK(world.count("attempts") == 3);
    CHECK(world.count("attempts WHERE account_id = '" + world.neighbour.account.text() + "'") == 0);
}

TEST_CASE("a transaction that is given up at RCPT is an attempt if somebody was refused",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    world.set(world.ours, {to("bob", refusal(stage::rcpt, later)),
                           to("cy", refusal(stage::rcpt, "550 5.1.1 No such user"))});
    auto client = world.connect();
    client.begin({"ours@mail.test"});
    client.say("RSET");
    client.say("MAIL FROM:<ann@sender.test>");
    client.say("RCPT TO:<ours+bob@mail.test>");
    client.say("RCPT TO:<ours+cy@mail.test>");
    client.say("RSET");
    const auto first = world.only_attempt_of(world.ours);
    CHECK(client.say("QUIT").starts_with("221"));

    CHECK(first.what.stage() == "rcpt");
    CHECK(first.what.reply() == "550 5.1.1 No such user");
    CHECK(first.what.step() == 1);
    REQUIRE(first.what.recipients_size() == 2);
    CHECK(first.what.recipients(0).code() == 451);
    CHECK(first.what.recipients(1).code() == 550);
    CHECK_FALSE(first.what.has_message());
    CHECK(world.end_of(world.ours) == session_end::quit);
}

TEST_CASE("a sender that hangs up is told from one that says QUIT",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    world.set(world.ours, {refusal(stage::rcpt, later)});
    {
        auto client = world.connect();
        client.begin({"ours@mail.test"});
    }

    CHECK(world.only_attempt_of(world.ours).what.stage() == "rcpt");
    CHECK(world.end_of(world.ours) == session_end::dropped);
}

TEST_CASE("faults at AUTH, MAIL, DATA and the end are attempts that end there",
          "[mail-ingest][postgres][attempts][logins]")
{
    attempt_world world;
    step cut;
    cut.at = stage::end;
    cut.cut = faults::cut_kind::stored;
    cut.when = {kind::times, 1};
    world.set(world.staging, {refusal(stage::auth, "454 4.7.0 Not now", {kind::times, 1}),
                              refusal(stage::mail, "450 4.7.0 Slower", {kind::times, 1}),
                              refusal(stage::data, "451 4.3.0 Not here", {kind::times, 1}), cut});

    CHECK(mail_client(world.server.listener.address(port_kind::submission_clear))
              .log_in(world.user, world.password) == "454 4.7.0 Not now");
    auto client = world.submit();
    CHECK(client.say("MAIL FROM:<a@b.test> SIZE=9") == "450 4.7.0 Slower");
    for (int i = 0; i < 2; ++i) {
        client.say("MAIL FROM:<a@b.test>");
        client.say("RCPT TO:<any@body.example>");
        client.deliver(mail_with_id);
    }

    const auto found = world.attempts_of(world.staging, 4);
    CHECK(found[0].what.stage() == "auth");
    CHECK(found[0].what.has_step());
    CHECK(found[0].what.recipients().empty());
    CHECK(found[1].what.stage() == "mail");
    CHECK(found[1].what.mail_from() == "a@b.test");
    CHECK(found[1].what.has_size());
    CHECK(found[1].what.step() == 1);
    CHECK(found[2].what.stage() == "data");
    CHECK(found[2].what.recipients(0).address() == "any@body.example");
    CHECK(found[2].what.message_id().empty());
    CHECK(found[2].what.step() == 2);
    CHECK(found[3].what.stage() == "end");
    CHECK(found[3].what.reply().empty());
    CHECK(found[3].what.code() == 0);
    CHECK(found[3].what.message_id() == "<1@sender.test>");
    CHECK(found[3].what.step() == 3);
    CHECK_FALSE(found[3].what.email_id().empty());
    CHECK(world.end_of(world.staging) == session_end::closed);
}

TEST_CASE("what is played once a message is stored is not used by one that is refused",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    step cut;
    cut.at = stage::end;
    cut.cut = faults::cut_kind::stored;
    cut.when = {kind::times, 1};
    world.set(world.ours, {cut});
    const auto used = [&] {
        return await(world.faults.find(world.ours.account, world.ours.id)).value().used;
    };
    const auto played = [] {
        return testing::shown_metric("tempinbox_mail_ingest_faults_total{stage=\"end\"}");
    };
    const auto played_before = played();
    std::string looping;
    for (int i = 0; i < 60; ++i)
        looping += "Received: from a by b; Mon, 1 Jan 2024 00:00:00 +0000\r\n";

    auto client = world.connect();
    const auto refused = client.begin({"ours@mail.test"}).deliver(looping + mail_with_id);
    CHECK(refused == "554 5.4.6 Too many hops, or a loop");
    CHECK(testing::eventually([&] { return used() == std::vector<std::int64_t>{0}; }));
    CHECK(played() == played_before);
    CHECK(client.say("MAIL FROM:<ann@sender.test>").starts_with("250"));
    CHECK(client.say("RCPT TO:<ours@mail.test>").starts_with("250"));
    CHECK(client.deliver(mail_with_id) == "");

    const auto found = world.attempts_of(world.ours, 2);
    CHECK(found[0].what.reply() == refused);
    CHECK_FALSE(found[0].what.has_step());
    CHECK(found[1].what.step() == 0);
    CHECK(found[1].what.has_step());
    CHECK_FALSE(found[1].what.email_id().empty());
    CHECK(used() == std::vector<std::int64_t>{1});
    CHECK(played() == played_before + 1);
}

TEST_CASE("ordinary refusals of a login's mail are attempts too",
          "[mail-ingest][postgres][attempts][logins]")
{
    attempt_world world;
    auto client = world.submit();
    const auto reply = client.say("MAIL FROM:<a@b.test> SIZE=999999999999");
    CHECK(reply.starts_with("552"));

    const auto found = world.only_attempt_of(world.staging);
    CHECK(found.what.stage() == "mail");
    CHECK(found.what.reply() == reply);
    CHECK_FALSE(found.what.has_step());
    CHECK(found.what.login() == world.user);
}

TEST_CASE("pipelining and chunks of a sender are noted", "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    auto client = world.submit();
    client.send("MAIL FROM:<a@b.test>\r\nRCPT TO:<any@body.example>\r\nBDAT 4\r\nab\r\n"
                "BDAT 4 LAST\r\ncd\r\n");
    for (int i = 0; i < 4; ++i)
        CHECK(client.reply().starts_with("250"));

    const auto found = world.only_attempt_of(world.staging);
    CHECK(found.what.is_pipelined());
    CHECK(found.what.is_chunked());
    CHECK(found.what.tls().empty());
}

TEST_CASE("a fault that a message for a neighbour too did not meet is noted for its inbox alone",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    world.set(world.ours, {refusal(stage::end, "452 4.2.2 Full")});
    auto client = world.connect();
    CHECK(client.begin({"ours@mail.test", "plain@mail.test", "x@ci.mail.test"})
              .deliver()
              .starts_with("250"));

    CHECK(unplayed_of(world.only_attempt_of(world.ours)) ==
          std::vector<std::string>{"end sharedTransaction"});
    CHECK(unplayed_of(world.only_attempt_of(world.all)).empty());
}

TEST_CASE("a fault that is used up is not noted for a message for a neighbour too",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    world.set(world.ours, {refusal(stage::end, "452 4.2.2 Full", {kind::times, 1})});
    auto first = world.connect();
    CHECK(first.begin({"ours@mail.test"}).deliver() == "452 4.2.2 Full");
    auto second = world.connect();
    CHECK(second.begin({"ours@mail.test", "plain@mail.test"}).deliver().starts_with("250"));

    const auto found = world.attempts_of(world.ours, 2);
    CHECK(unplayed_of(found[0]).empty());
    CHECK(unplayed_of(found[1]).empty());
}

TEST_CASE("a fault that could not be counted in time is noted", "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    world.set(world.ours, {refusal(stage::rcpt, later)});
    auto client = world.connect();
    {
        testing::held_lock lock(world.scratch.dsn(), "LOCK TABLE mailbox.fault_counts");
        client.begin({"ours@mail.test"});
    }
    CHECK(client.deliver().starts_with("250"));

    CHECK(unplayed_of(world.only_attempt_of(world.ours)) ==
          std::vector<std::string>{"rcpt noAnswer"});
}

TEST_CASE("no reply waits while attempts cannot be written, and they are written later",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    auto client = world.submit();
    const auto send = [&] {
        client.say("MAIL FROM:<a@b.test>");
        client.say("RCPT TO:<any@body.example>");
        return client.deliver();
    };
    {
        testing::held_lock lock(world.scratch.dsn(),
                                "LOCK TABLE mailbox.attempts IN ACCESS EXCLUSIVE MODE");
        for (int i = 0; i < 5; ++i)
            CHECK(send().starts_with("250"));
    }

    CHECK(world.attempts_of(world.staging, 5).size() == 5);
}

TEST_CASE("what does not fit in memory is counted and dropped, of each inbox its own",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    mail_ingest::attempt_bounds bounds;
    bounds.rows = 8;
    bounds.rows_per_inbox = 3;
    const auto before = dropped_attempts();
    mail_ingest::attempt_recorder recorder(testing::test_host(), world.scratch.db(), bounds);
    for (int i = 0; i < 5; ++i)
        recorder.note(world.staging.account, world.staging.id, {});
    recorder.note(world.all.account, world.all.id, {});
    recorder.note(world.ours.account, world.ours.id, {});
    CHECK(dropped_attempts() == before + 3);

    await(recorder.stop());

    CHECK(world.count("attempts") == 4);
    CHECK(world.only_attempt_of(world.all).what.stage().empty());
}

TEST_CASE("what an inbox got beyond its thousand attempts is deleted as more are written",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    mail_ingest::attempt_recorder recorder(testing::test_host(), world.scratch.db());
    const auto& inbox = world.staging;
    for (int i = 0; i < 990; ++i)
        recorder.note(inbox.account, inbox.id, {});
    recorder.start();
    REQUIRE(testing::eventually([&] { return world.count("attempts") == 990; }));

    for (int i = 0; i < 200; ++i)
        recorder.note(inbox.account, inbox.id, {});
    CHECK(testing::eventually([&] { return world.count("attempts") == 1'000; }));

    recorder.note(world.all.account, world.all.id, {});
    await(recorder.stop());
    CHECK(world.count("attempts") == 1'001);
}

TEST_CASE("accounts that flood leave room for the attempts of others",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    std::vector<mailbox::inbox> flooded;
    for (int i = 0; i < 5; ++i)
        flooded.push_back(world.create(mailbox::seeds::account()));
    mail_ingest::attempt_bounds bounds;
    mailbox::v1::Attempt large;
    SECTION("of the rows")
    {
        bounds.rows = 20;
    }
    SECTION("of the bytes")
    {
        large.set_reply(std::string(1'000, 'x'));
        bounds.bytes = 20 * large.ByteSizeLong();
    }
    mail_ingest::attempt_recorder recorder(testing::test_host(), world.scratch.db(), bounds);
    for (int i = 0; i < 30; ++i)
        for (const auto& inbox : flooded)
            recorder.note(inbox.account, inbox.id, large);
    const auto before = dropped_attempts();

    const auto noted = recorder.note(world.plain.account, world.plain.id, large);
    REQUIRE(noted);
    recorder.note_end(*noted, session_end::quit);
    CHECK_FALSE(recorder.note(flooded[0].account, flooded[0].id, large));
    CHECK(dropped_attempts() == before + 1);
    await(recorder.stop());

    CHECK(world.count("attempts") > 15);
    CHECK(world.count("attempts WHERE inbox_id = '" + world.plain.id.text() +
                      "' AND session_end = 'quit'") == 1);
}

TEST_CASE("an account has its share of memory again once attempts are written",
          "[mail-ingest][postgres][attempts]")
{
    attempt_world world;
    mail_ingest::attempt_bounds bounds;
    bounds.rows = 4;
    mail_ingest::attempt_recorder recorder(testing::test_host(), world.scratch.db(), bounds);
    const auto note = [&] {
        return recorder.note(world.staging.account, world.staging.id, {}).has_value();
    };
    CHECK(note());
    CHECK(note());
    CHECK_FALSE(note());
    recorder.start();

    CHECK(testing::eventually(note));
    await(recorder.stop());
    CHECK(world.count("attempts") == 3);
}
