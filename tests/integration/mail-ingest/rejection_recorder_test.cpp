#include "mail-ingest/rejections/rejection_recorder.hpp"

#include "integration/mail-ingest/mail_server.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using mail_ingest::rejection_recorder;
using mailbox::rejection_reason;
using testing::mail_client;
using testing::mail_server;
using testing::test_host;

namespace {

const std::string too_large = "552 5.3.4 Message is too large";

struct rejecting_world : mailbox::seeds::world
{
    plans::account_state account = with_small_messages();

    static plans::account_state with_small_messages()
    {
        auto state = mailbox::seeds::account();
        state.limits.max_message_bytes = 2'000;
        return state;
    }

    std::vector<mailbox::rejection> rejections_of(const mailbox::inbox& box)
    {
        return testing::await(inboxes.list_rejections(box.account, box.id)).value();
    }
    // Once it has some; throws if it gets none.
    mailbox::rejection only_rejection_of(const mailbox::inbox& box)
    {
        std::vector<mailbox::rejection> found;
        testing::eventually([&] { return !(found = rejections_of(box)).empty(); });
        if (found.size() != 1)
            throw std::runtime_error("the inbox has " + std::to_string(found.size()) +
                                     " rejections");
        return found.front();
    }
};

void note(rejection_recorder& recorder, const mailbox::inbox& box, const std::string& sender)
{
    recorder.note(box.account, box.id, rejection_reason::too_large, sender, too_large);
}

double dropped()
{
    return test_host()
        .metrics()
        .counter("tempinbox_mail_ingest_rejections_dropped_total",
                 "Refused mail that its inbox does not show, since there was no room for more")
        .Value();
}

std::string lines(std::size_t bytes)
{
    std::string text;
    while (text.size() < bytes)
        text += "a line of the message\r\n";
    return text;
}

} // namespace

TEST_CASE("what a session refuses is recorded for its inbox, with the reply as sent",
          "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto small = world.create(world.account, "small");
    const auto full = world.create(world.account, "full");
    const auto busy = world.create(world.account, "busy");
    const auto ended = world.create(world.account, "ended");
    world.add_email({full}, "mail");
    testing::await(world.endings.expire(world.account.account, ended.id)).value();
    mail_ingest::recipient_settings recipient_settings;
    recipient_settings.inbox_bounds.emails = 1;
    recipient_settings.messages_per_minute = 1;
    recipient_settings.message_burst = 1;
    mail_server server(world.scratch.dsn(), recipient_settings);
    mail_client client(server.listener.local_address());

    CHECK(client.begin({"busy@mail.test"}).deliver().starts_with("250"));
    client.say("MAIL FROM:<\"<b>x</b>\"@sender.test> SIZE=3000");
    CHECK(client.say("RCPT TO:<small@mail.test>") ==
          "550 5.3.4 Message is too large for this mailbox");
    client.say("RSET");
    client.say("MAIL FROM:<>");
    const auto busy_reply = client.say("RCPT TO:<busy@mail.test>");
    const auto full_reply = client.say("RCPT TO:<full@mail.test>");
    const auto ended_reply = client.say("RCPT TO:<ended@mail.test>");
    client.say("RCPT TO:<Ended+again@mail.test>"); // from the cache
    client.say("RCPT TO:<never@mail.test>");

    const auto of_small = world.only_rejection_of(small);
    CHECK(of_small.reason == "too_large");
    CHECK(of_small.mail_from == "\"<b>x</b>\"@sender.test");
    CHECK(of_small.reply == "550 5.3.4 Message is too large for this mailbox");
    const auto of_busy = world.only_rejection_of(busy);
    CHECK(of_busy.reason == "over_rate");
    CHECK(of_busy.mail_from.empty());
    CHECK(of_busy.reply == busy_reply);
    const auto of_full = world.only_rejection_of(full);
    CHECK(of_full.reason == "inbox_full");
    CHECK(of_full.reply == full_reply);
    const auto of_ended = world.only_rejection_of(ended);
    CHECK(of_ended.reason == "inbox_ended");
    CHECK(of_ended.reply == ended_reply);
    CHECK(testing::eventually([&] { return world.rejections_of(ended)[0].attempts == 2; }));
    CHECK(world.count("rejections") == 4);
}

TEST_CASE("a message refused at its end is recorded once for each of its inboxes",
          "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto one = world.create(world.account, "one"), two = world.create(world.account, "two");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());

    const auto reply =
        client.begin({"one@mail.test", "one+tag@mail.test", "two@mail.test"}).deliver(lines(3'000));

    CHECK(reply == too_large);
    for (const auto& box : {one, two}) {
        const auto found = world.only_rejection_of(box);
        CHECK(found.reason == "too_large");
        CHECK(found.mail_from == "ann@sender.test");
        CHECK(found.reply == reply);
        CHECK(found.attempts == 1);
    }
}

TEST_CASE("a message whose inbox ended before the commit is recorded", "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto box = world.create(world.account, "box");
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    client.begin({"box@mail.test"});

    testing::await(world.endings.expire(world.account.account, box.id)).value();
    const auto reply = client.deliver();

    const auto found = world.only_rejection_of(box);
    CHECK(found.reason == "inbox_ended");
    CHECK(found.reply == reply);
}

TEST_CASE("no reply waits for rejections to be written", "[mail-ingest][postgres]")
{
    rejecting_world world;
    world.create(world.account, "box");
    const auto ended = world.create(world.account, "ended");
    testing::await(world.endings.expire(world.account.account, ended.id)).value();
    mail_server server(world.scratch.dsn());
    mail_client client(server.listener.local_address());
    auto lock = std::make_unique<testing::held_lock>(
        world.scratch.dsn(), "LOCK TABLE mailbox.rejections IN ACCESS EXCLUSIVE MODE");
    const auto is_writing = [&] {
        return !world.scratch
                    .execute("SELECT 1 FROM pg_locks WHERE NOT granted "
                             "AND relation = 'mailbox.rejections'::regclass")
                    .empty();
    };

    const auto first = client.begin({}).say("RCPT TO:<ended@mail.test>");
    REQUIRE(testing::eventually(is_writing));
    const auto second = client.say("RCPT TO:<ended@mail.test>");
    client.say("RCPT TO:<box@mail.test>");
    const auto stored = client.deliver();
    lock.reset();

    CHECK(first == "550 5.1.1 No such mailbox here");
    CHECK(second == first);
    CHECK(stored.starts_with("250 "));
    CHECK(testing::eventually([&] {
        const auto found = world.rejections_of(ended);
        return found.size() == 1 && found[0].attempts == 2;
    }));
}

TEST_CASE("rejections are written once a second, each time as one statement",
          "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto box = world.create(world.account);
    world.scratch.execute("CREATE TABLE public.writes (at timestamptz)");
    world.scratch.execute(
        "CREATE FUNCTION public.note_write() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN INSERT INTO public.writes VALUES (clock_timestamp()); RETURN NULL; END$$");
    world.scratch.execute("CREATE TRIGGER note_write AFTER INSERT ON mailbox.rejections "
                          "FOR EACH STATEMENT EXECUTE FUNCTION public.note_write()");
    rejection_recorder recorder(test_host(), world.mail);
    recorder.start();

    std::int64_t noted = 0;
    const bool came = testing::eventually([&] {
        for (const char* sender : {"a@x.test", "b@x.test", "c@x.test"})
            note(recorder, box, sender);
        noted += 3;
        return world.scratch.execute("SELECT count(*) FROM public.writes")[0][0].as<int>() >= 3;
    });
    testing::await(recorder.stop());

    REQUIRE(came);
    const auto too_soon =
        world.scratch.execute("SELECT 1 FROM (SELECT at, lead(at) OVER (ORDER BY at) AS next, "
                              "row_number() OVER (ORDER BY at) AS number FROM public.writes) AS w "
                              "WHERE number < 3 AND next - at < interval '900 milliseconds'");
    CHECK(too_soon.empty());
    CHECK(world.rejections_of(box).size() == 3);
    CHECK(world.scratch.execute("SELECT sum(attempts) FROM mailbox.rejections")[0][0]
              .as<std::int64_t>() == noted);
}

TEST_CASE("an orderly end writes what memory holds", "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto box = world.create(world.account);
    rejection_recorder recorder(test_host(), world.mail);
    note(recorder, box, "a@x.test");

    testing::await(recorder.stop());

    CHECK(world.rejections_of(box).size() == 1);
}

TEST_CASE("rejections wait for a database that fails, and are written once",
          "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto box = world.create(world.account);
    world.scratch.execute("ALTER TABLE mailbox.rejections RENAME TO away");
    rejection_recorder recorder(test_host(), world.mail);
    note(recorder, box, "a@x.test");
    CHECK_THROWS(testing::await(world.mail.note_rejections({mailbox::new_rejection()})));

    testing::await(recorder.stop());
    world.scratch.execute("ALTER TABLE mailbox.away RENAME TO rejections");
    testing::await(recorder.stop());

    const auto found = world.rejections_of(box);
    REQUIRE(found.size() == 1);
    CHECK(found.front().attempts == 1);
}

TEST_CASE("rejections without room are counted, and the recorder goes on",
          "[mail-ingest][postgres]")
{
    rejecting_world world;
    const auto box = world.create(world.account), other = world.create(world.account);
    rejection_recorder recorder(test_host(), world.mail);
    const auto before = dropped();

    for (int i = 0; i < 103; ++i)
        note(recorder, box, std::to_string(i) + "@x.test");
    note(recorder, other, "a@x.test");
    CHECK(dropped() == before + 3);
    testing::await(recorder.stop());
    CHECK(world.rejections_of(box).size() == 100);
    CHECK(world.rejections_of(other).size() == 1);

    // The rows are there now: the database counts those past the limit.
    note(recorder, box, "another@x.test");
    note(recorder, box, "0@x.test");
    testing::await(recorder.stop());
    CHECK(dropped() == before + 4);
}
