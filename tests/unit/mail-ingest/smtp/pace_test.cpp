#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using smtp::recipient_status;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";

} // namespace

TEST_CASE("an overlong command line is dropped to its end and counted once", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.raw(std::string(5'000, 'x')) == "");
    CHECK(talk.raw(std::string(5'000, 'y')) == "");
    CHECK(talk.raw("z\r\nNOOP\r\n") == "500 5.5.2 Line too long|250 2.0.0 Ok");
    CHECK(talk.raw("NOOP " + std::string(3'000, 'x') + "\r\nNOOP\r\n") ==
          "500 5.5.2 Line too long|250 2.0.0 Ok");
}

TEST_CASE("what comes within an overlong line is no other protocol's beginning", "[smtp]")
{
    conversation talk;
    talk.greet();

    CHECK(talk.raw(std::string(3'000, 'x')) == "");
    CHECK(talk.raw("\x16\x03\x01\r\n") == "500 5.5.2 Line too long");
    CHECK_FALSE(talk.is_closed());
}

TEST_CASE("command lines end with CRLF and are text", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.raw("NOOP\n") == "500 5.5.2 Lines must be plain text and end with CRLF");
    CHECK(talk.raw(std::string("NO\0OP\r\n", 7)) ==
          "500 5.5.2 Lines must be plain text and end with CRLF");
    CHECK(talk.raw("NO\rOP\r\n") == "500 5.5.2 Lines must be plain text and end with CRLF");
    CHECK(talk.raw("NO") == "");
    CHECK(talk.raw("OP\r") == "");
    CHECK(talk.raw("\n") == "250 2.0.0 Ok");
}

TEST_CASE("errors are slowed from the 10th and end the session at the 20th", "[smtp]")
{
    conversation talk;
    talk.hello();
    for (int i = 1; i <= 9; ++i)
        CHECK(talk.say("FOO") == "500 5.5.2 Unknown command");
    for (int i = 10; i <= 19; ++i)
        CHECK(talk.say("FOO") == "[1000]500 5.5.2 Unknown command");
    CHECK(talk.say("FOO") == "421 4.7.0 Too many errors");
    CHECK(talk.is_closed());
}

TEST_CASE("unknown recipients are slowed from the 5th and end the session at the 10th, quarantined "
          "ones are not counted",
          "[smtp]")
{
    conversation talk;
    talk.set("old@in.test", recipient_status::quarantined);
    talk.mail();
    for (int i = 0; i < 20; ++i)
        CHECK(talk.say("RCPT TO:<old@in.test>") == unknown);
    for (int i = 1; i <= 4; ++i)
        CHECK(talk.say("RCPT TO:<nobody@in.test>") == unknown);
    for (int i = 5; i <= 9; ++i)
        CHECK(talk.say("RCPT TO:<nobody@in.test>") == std::string("[2000]") + unknown);
    CHECK(talk.say("RCPT TO:<nobody@in.test>") == "421 4.7.0 Too many unknown recipients");
    CHECK(talk.is_closed());
}

TEST_CASE("recipients refused for whatever reason are slowed from the 100th, those taken never are",
          "[smtp]")
{
    const auto [status, reply] = GENERATE(table<recipient_status, std::string>({
        {recipient_status::quarantined, unknown},
        {recipient_status::full, "550 5.2.2 Mailbox is full"},
        {recipient_status::over_rate, "450 4.2.1 Mailbox receives too much mail just now"},
        {recipient_status::unavailable, "451 4.3.0 Temporary failure, try again later"},
        {recipient_status::unknown, unknown},
        {recipient_status::foreign, "550 5.7.1 Relaying denied"},
    }));
    conversation talk;
    talk.limits().unknown_before_delay = talk.limits().unknown_before_close = 0;
    talk.limits().errors_before_delay = talk.limits().errors_before_close = 0;
    talk.set("refused@in.test", status);
    talk.mail();
    for (int i = 1; i < 100; ++i)
        REQUIRE(talk.say("RCPT TO:<refused@in.test>") == reply);

    CHECK(talk.say("RCPT TO:<refused@in.test>") == "[1000]" + reply);
    CHECK(talk.say("RCPT TO:<box@in.test>") == "250 2.1.5 Recipient ok");
    talk.say("RSET");
    talk.say("MAIL FROM:<a@b.test>");
    CHECK(talk.say("RCPT TO:<refused@in.test>") == "[1000]" + reply);
}

TEST_CASE("refused recipients may be any number", "[smtp]")
{
    conversation talk;
    talk.limits().refused_before_delay = 0;
    talk.set("old@in.test", recipient_status::quarantined);
    talk.mail();
    for (int i = 0; i < 200; ++i)
        REQUIRE(talk.say("RCPT TO:<old@in.test>") == unknown);
}

TEST_CASE("a sender's address that guesses waits for every answer", "[smtp]")
{
    conversation talk;
    talk.slow("box@in.test");
    talk.mail();

    CHECK(talk.say("RCPT TO:<box@in.test>") == "[2000]250 2.1.5 Recipient ok");
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

TEST_CASE("a message under 500 bytes a second over a minute is given up", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    talk.say("DATA");
    talk.raw(std::string(40'000, 'x'));
    CHECK(talk.pass(std::chrono::seconds(61)) == "");
    talk.raw(std::string(1'000, 'x'));
    CHECK(talk.pass(std::chrono::seconds(61)) == "421 4.4.2 Timeout, closing connection");
    CHECK(talk.session_machine().take_ending()->result == "timed_out");
}

TEST_CASE("a message in chunks has the least rate too, whatever is said between them", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    CHECK(talk.raw("BDAT 40000\r\n" + std::string(40'000, 'x')) == "250 2.0.0 Chunk ok");
    CHECK(talk.pass(std::chrono::seconds(61)) == "");

    SECTION("NOOP")
    {
        CHECK(talk.pass(std::chrono::seconds(40)) == "");
        CHECK(talk.say("NOOP") == "250 2.0.0 Ok");
        CHECK(talk.pass(std::chrono::seconds(21)) == "421 4.4.2 Timeout, closing connection");
        CHECK(talk.session_machine().take_ending()->result == "timed_out");
    }
    SECTION("empty and small chunks")
    {
        CHECK(talk.pass(std::chrono::seconds(40)) == "");
        CHECK(talk.raw("BDAT 0\r\nBDAT 1\r\nx") == "250 2.0.0 Chunk ok|250 2.0.0 Chunk ok");
        CHECK(talk.pass(std::chrono::seconds(21)) == "421 4.4.2 Timeout, closing connection");
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

TEST_CASE("without a least rate a message may be slow, but not silent", "[smtp]")
{
    smtp::limits bounds;
    bounds.min_bytes_per_second = 0;
    conversation talk(bounds);
    talk.rcpt();
    talk.say("DATA");
    for (int minute = 0; minute < 3; ++minute) {
        talk.raw("x");
        CHECK(talk.pass(std::chrono::seconds(61)) == "");
    }
    CHECK(talk.pass(std::chrono::seconds(61)) == "421 4.4.2 Timeout, closing connection");
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
