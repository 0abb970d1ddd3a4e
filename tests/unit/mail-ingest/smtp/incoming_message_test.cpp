#include "mail-ingest/smtp/incoming_message.hpp"

#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using step_kind = smtp::message_step::kind;
using testing::conversation;

namespace {

constexpr const char* full_disk = "452 4.3.1 Insufficient system storage, try again later";

} // namespace

TEST_CASE("a message that was lost on its way gets 452 at its end, or at its chunk's", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    SECTION("DATA")
    {
        talk.say("DATA");
        talk.raw("a\r\n");
        talk.session_machine().lose_message();
        CHECK(talk.raw("b\r\n") == "");
        CHECK(talk.raw(".\r\n") == full_disk);
    }
    SECTION("BDAT")
    {
        talk.raw("BDAT 4\r\nab");
        talk.session_machine().lose_message();
        CHECK(talk.raw("cd") == full_disk);
    }
    CHECK(talk.stored().empty());
    CHECK(talk.session_machine().take_ending()->result == "overloaded");

    talk.say("MAIL FROM:<a@b.test>");
    talk.say("RCPT TO:<box@in.test>");
    CHECK(talk.raw("BDAT 2 LAST\r\nab") == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.stored().at(0) == "ab");
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

TEST_CASE("a message that was lost and one that is too large pass nothing on", "[smtp]")
{
    const smtp::limits bounds;
    const smtp::incoming_message::time_point now{std::chrono::hours(1)};
    smtp::incoming_message message(bounds);
    message.begin(10, now);
    CHECK(message.keep("12345", 5, now).what == step_kind::append);

    SECTION("lost, then too large")
    {
        message.lose();
        CHECK(message.is_lost());
        CHECK(message.keep("12345", 5, now).what == step_kind::resume);
        CHECK(message.keep("1", 1, now).what == step_kind::drop);
        CHECK_FALSE(message.is_lost());
    }
    SECTION("too large, then lost")
    {
        CHECK(message.keep("123456", 6, now).what == step_kind::drop);
        message.lose();
        CHECK_FALSE(message.is_lost());
    }
    CHECK(message.is_too_large());
    CHECK(message.oversize_deadline() == now + bounds.oversize_timeout);
    CHECK(message.keep("123456789", 9, now).what == step_kind::resume);
    CHECK_FALSE(message.is_excessive());
    CHECK(message.keep("1", 1, now).what == step_kind::resume);
    CHECK(message.is_excessive());

    message.begin(10, now);
    CHECK_FALSE(message.is_too_large());
    CHECK(message.oversize_deadline() == smtp::incoming_message::time_point::max());
}
