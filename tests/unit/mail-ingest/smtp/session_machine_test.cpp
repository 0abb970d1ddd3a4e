#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using smtp::message_status;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";
constexpr const char* full_disk = "452 4.3.1 Insufficient system storage, try again later";

} // namespace

TEST_CASE("a plain session is answered as RFC 5321 appendix D has it", "[smtp]")
{
    conversation talk;

    CHECK(talk.greet() == "220 mx.test ESMTP");
    CHECK(talk.say("EHLO client.test") ==
          "250-mx.test|250-PIPELINING|250-SIZE "
          "26214400|250-8BITMIME|250-SMTPUTF8|250-ENHANCEDSTATUSCODES|250-CHUNKING|"
          "250 LIMITS RCPTMAX=100 MAILMAX=1000");
    CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=100 BODY=8BITMIME") == "250 2.1.0 Sender ok");
    CHECK(talk.say("RCPT TO:<Box+tag@IN.test>") == "250 2.1.5 Recipient ok");
    CHECK(talk.say("DATA") == "354 End data with <CR><LF>.<CR><LF>");
    CHECK(talk.raw("Subject: x\r\n\r\nhello\r\n..dot\r\n.\r\n") == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.say("QUIT") == "221 2.0.0 Bye");

    CHECK(talk.is_closed());
    REQUIRE(talk.stored().size() == 1);
    CHECK(talk.stored()[0] == "Subject: x\r\n\r\nhello\r\n.dot\r\n");
    CHECK(talk.envelopes()[0].mail_from == "a@b.test");
    CHECK(talk.envelopes()[0].helo == "client.test");
    CHECK(talk.envelopes()[0].recipients[0].as_given == "Box+tag@IN.test");
}

TEST_CASE("a connection can be turned away", "[smtp]")
{
    conversation talk;
    talk.session_machine().turn_away("421 4.3.2 Too many connections, try again later");
    CHECK(talk.run() == "421 4.3.2 Too many connections, try again later");
    CHECK(talk.is_closed());
}

TEST_CASE("what the store says becomes the reply", "[smtp]")
{
    const std::vector<std::pair<message_status, std::string>> table = {
        {message_status::stored, "250 2.0.0 Ok: queued as id-1"},
        {message_status::gone, unknown},
        {message_status::full, "550 5.2.2 Mailbox is full"},
        {message_status::full_for_now, "452 4.2.2 Mailbox is full, try again later"},
        {message_status::looping, "554 5.4.6 Too many hops, or a loop"},
        {message_status::too_large, "552 5.3.4 Message is too large"},
        {message_status::overloaded, "452 4.3.1 Insufficient system storage, try again later"},
        {message_status::unstorable, "554 5.6.0 Message cannot be stored"},
        {message_status::unavailable, "451 4.3.0 Temporary failure, try again later"},
    };
    for (const auto& [outcome, reply] : table) {
        conversation talk;
        talk.set_message_status(outcome);
        talk.rcpt();
        talk.say("DATA");
        CHECK(talk.raw("x\r\n.\r\n") == reply);
        CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    }
}

TEST_CASE("no memory: later", "[smtp]")
{
    conversation talk;
    talk.hello();
    talk.session_machine().set_overloaded(true);

    CHECK(talk.say("MAIL FROM:<a@b.test>") == full_disk);
}

TEST_CASE("what cannot be stored at present is refused at MAIL", "[smtp]")
{
    conversation talk;
    talk.hello();
    talk.session_machine().set_unavailable(true);

    CHECK(talk.say("MAIL FROM:<a@b.test>") == "451 4.3.0 Temporary failure, try again later");
    talk.session_machine().set_unavailable(false);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
}

TEST_CASE("a message that there is no room for is refused as soon as its size is known", "[smtp]")
{
    conversation talk;
    talk.hello();
    talk.session_machine().set_available_bytes(1'000);

    CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=1001") == full_disk);
    CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=1000") == "250 2.1.0 Sender ok");
    talk.say("RCPT TO:<box@in.test>");
    talk.session_machine().set_available_bytes(999);
    CHECK(talk.say("DATA") == full_disk);

    // The transaction is over.
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    talk.say("RCPT TO:<box@in.test>");
    talk.session_machine().set_overloaded(true);
    CHECK(talk.say("DATA") == full_disk);
    CHECK(talk.stored().empty());
}

TEST_CASE("a 250 for a message is confirmed by whatever is said next", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    CHECK(talk.is_acknowledged());

    talk.say("DATA");
    talk.raw("Subject: x\r\n\r\nhello\r\n.\r\n");
    CHECK_FALSE(talk.is_acknowledged());
    talk.raw("NO");
    CHECK_FALSE(talk.is_acknowledged());
    talk.raw("OP\r\n");
    CHECK(talk.is_acknowledged());
}

TEST_CASE("what was sent before the 250 does not confirm it", "[smtp]")
{
    conversation talk;
    talk.rcpt();

    SECTION("a command does not, the next one does")
    {
        CHECK(talk.raw("BDAT 3 LAST\r\na\r\nNOOP\r\n") ==
              "250 2.0.0 Ok: queued as id-1|250 2.0.0 Ok");
        CHECK_FALSE(talk.is_acknowledged());
        talk.session_machine().ended_in_order();
        CHECK_FALSE(talk.is_acknowledged());
        talk.say("NOOP");
        CHECK(talk.is_acknowledged());
    }
    SECTION("QUIT does when the client ends the connection in order")
    {
        CHECK(talk.raw("BDAT 3 LAST\r\na\r\nQUIT\r\n") ==
              "250 2.0.0 Ok: queued as id-1|221 2.0.0 Bye");
        CHECK_FALSE(talk.is_acknowledged());
        talk.session_machine().ended_in_order();
        CHECK(talk.is_acknowledged());
    }
}

TEST_CASE("idle sessions end, earlier where many are open", "[smtp]")
{
    conversation talk;
    talk.hello();
    SECTION("300 s")
    {
        CHECK(talk.pass(std::chrono::seconds(299)) == "");
        CHECK(talk.pass(std::chrono::seconds(2)) == "421 4.4.2 Timeout, closing connection");
    }
    SECTION("60 s")
    {
        talk.session_machine().set_busy(true);
        CHECK(talk.pass(std::chrono::seconds(61)) == "421 4.4.2 Timeout, closing connection");
    }
}

TEST_CASE("a session lasts 20 minutes, an exempt client's longer", "[smtp]")
{
    for (const bool is_exempt : {false, true}) {
        conversation talk({}, {.is_exempt = is_exempt});
        talk.hello();
        for (int minute = 0; minute < 19; ++minute) {
            REQUIRE(talk.pass(std::chrono::seconds(60)) == "");
            REQUIRE(talk.say("NOOP") == "250 2.0.0 Ok");
        }
        CHECK(talk.pass(std::chrono::seconds(61)) ==
              (is_exempt ? "" : "421 4.4.2 Timeout, closing connection"));
    }
}

TEST_CASE("a message that began in time may end after the session's, but lasts no longer than one",
          "[smtp]")
{
    conversation talk;
    talk.rcpt();
    for (int minute = 0; minute < 15; ++minute) {
        REQUIRE(talk.pass(std::chrono::seconds(60)) == "");
        REQUIRE(talk.say("NOOP") == "250 2.0.0 Ok");
    }
    const std::string enough(60'000, 'x');

    SECTION("in chunks")
    {
        for (int minute = 0; minute < 19; ++minute) {
            REQUIRE(talk.raw("BDAT 60000\r\n" + enough) == "250 2.0.0 Chunk ok");
            REQUIRE(talk.pass(std::chrono::seconds(60)) == "");
        }
        SECTION("19 minutes")
        {
            CHECK(talk.raw("BDAT 0 LAST\r\n") == "250 2.0.0 Ok: queued as id-1");
            CHECK(talk.pass(std::chrono::seconds(1)) == "421 4.4.2 Timeout, closing connection");
        }
        SECTION("more than 20")
        {
            CHECK(talk.raw("BDAT 60000\r\n" + enough) == "250 2.0.0 Chunk ok");
            CHECK(talk.pass(std::chrono::seconds(61)) == "421 4.4.2 Timeout, closing connection");
        }
    }
    SECTION("in DATA")
    {
        talk.say("DATA");
        for (int minute = 0; minute < 19; ++minute) {
            talk.raw(enough);
            REQUIRE(talk.pass(std::chrono::seconds(60)) == "");
        }
        talk.raw(enough);
        CHECK(talk.pass(std::chrono::seconds(61)) == "421 4.4.2 Timeout, closing connection");
        CHECK(talk.session_machine().take_ending()->result == "timed_out");
    }
    SECTION("in a refused chunk")
    {
        REQUIRE(talk.say("RSET") == "250 2.0.0 Ok");
        talk.raw("BDAT 30000000\r\n");
        for (int minute = 0; minute < 19; ++minute) {
            talk.raw(enough);
            REQUIRE(talk.pass(std::chrono::seconds(60)) == "");
        }
        talk.raw(enough);
        CHECK(talk.pass(std::chrono::seconds(61)) == "421 4.4.2 Timeout, closing connection");
    }
}

TEST_CASE("at shutdown idle sessions end and messages are finished", "[smtp]")
{
    SECTION("idle")
    {
        conversation talk;
        talk.mail();
        talk.session_machine().shut_down();
        CHECK(talk.run() == "421 4.3.2 Service shutting down");
        CHECK(talk.is_closed());
    }
    SECTION("in DATA")
    {
        conversation talk;
        talk.rcpt();
        talk.say("DATA");
        talk.session_machine().shut_down();
        CHECK(talk.run() == "");
        CHECK(talk.raw("x\r\n.\r\n") ==
              "250 2.0.0 Ok: queued as id-1|421 4.3.2 Service shutting down");
    }
    SECTION("between chunks")
    {
        conversation talk;
        talk.rcpt();
        talk.raw("BDAT 3\r\na\r\n");
        talk.session_machine().shut_down();
        CHECK(talk.run() == "");
        CHECK(talk.raw("BDAT 0 LAST\r\n") ==
              "250 2.0.0 Ok: queued as id-1|421 4.3.2 Service shutting down");
    }
}

TEST_CASE("a message that is refused ends with its reply, sender and recipients", "[smtp]")
{
    conversation talk;
    talk.add_live("small@in.test", 10);
    talk.mail();
    talk.say("RCPT TO:<small@in.test>");
    talk.say("DATA");

    const auto reply = talk.raw("eleven byte\r\n.\r\nMAIL FROM:<next@b.test>\r\n");

    CHECK(reply == "552 5.3.4 Message is too large|250 2.1.0 Sender ok");
    const auto ended = talk.session_machine().take_ending();
    REQUIRE(ended);
    CHECK(ended->result == "too_large");
    CHECK(ended->reply == "552 5.3.4 Message is too large");
    CHECK(ended->envelope.mail_from == "a@b.test");
    REQUIRE(ended->envelope.recipients.size() == 1);
    CHECK(ended->envelope.recipients[0].as_given == "small@in.test");
    CHECK(talk.session_machine().transaction().mail_from == "next@b.test");
}

TEST_CASE("the reply to a recipient is known", "[smtp]")
{
    conversation talk;
    talk.set("full@in.test", smtp::recipient_status::full);
    talk.mail();

    talk.say("RCPT TO:<full@in.test>");
    CHECK(talk.session_machine().last_reply() == "550 5.2.2 Mailbox is full");
    talk.say("RCPT TO:<box@in.test>");
    CHECK(talk.session_machine().last_reply() == "250 2.1.5 Recipient ok");
}
