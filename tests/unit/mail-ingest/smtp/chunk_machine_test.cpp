#include "mail-ingest/smtp/chunk_machine.hpp"

#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using step_kind = smtp::message_step::kind;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";
constexpr const char* full_disk = "452 4.3.1 Insufficient system storage, try again later";

std::string lines(const std::string& line, int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += line + "\r\n";
    return text;
}

} // namespace

TEST_CASE("a chunk that there is no room for is skipped, and its message with it", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    talk.session_machine().set_available_bytes(10);
    const bool is_first = GENERATE(true, false);
    if (!is_first)
        CHECK(talk.raw("BDAT 4\r\nabcd") == "250 2.0.0 Chunk ok");

    CHECK(talk.raw("BDAT 12\r\nRCPT TO:<x\r\nBDAT 1 LAST\r\nx") ==
          std::string(full_disk) + "|503 5.5.1 Send RCPT first");
    CHECK_FALSE(talk.is_in_message());
    CHECK(talk.session_machine().take_ending()->result == "overloaded");

    CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    talk.say("RCPT TO:<box@in.test>");
    CHECK(talk.raw("BDAT 10 LAST\r\n0123456789") == "250 2.0.0 Ok: queued as id-1");
}

TEST_CASE("want of room is no mistake of the client", "[smtp]")
{
    conversation talk;
    talk.hello();
    talk.session_machine().set_available_bytes(1);
    for (int i = 0; i < 30; ++i) {
        talk.say("MAIL FROM:<a@b.test>");
        talk.say("RCPT TO:<box@in.test>");
        CHECK(talk.raw("BDAT 2\r\nab") == full_disk);
    }
}

TEST_CASE("a message in chunks", "[smtp]")
{
    conversation talk;
    talk.rcpt();

    SECTION("one by one")
    {
        CHECK(talk.raw("BDAT 5\r\na\r\n.\r") == "250 2.0.0 Chunk ok");
        CHECK(talk.say("MAIL FROM:<a@b.test>") == "503 5.5.1 Message is being sent in chunks");
        CHECK(talk.say("RCPT TO:<box@in.test>") == "503 5.5.1 Message is being sent in chunks");
        CHECK(talk.say("DATA") == "503 5.5.1 Message is being sent in chunks");
        CHECK(talk.raw("BDAT 3 LAST\r\n\n") == "");
        CHECK(talk.raw("xy") == "250 2.0.0 Ok: queued as id-1");
        CHECK(talk.stored()[0] == "a\r\n.\r\nxy");
    }
    SECTION("in one pipelined group")
    {
        CHECK(talk.raw("BDAT 3\r\na\r\nBDAT 0 LAST\r\nQUIT\r\n") ==
              "250 2.0.0 Chunk ok|250 2.0.0 Ok: queued as id-1|221 2.0.0 Bye");
        CHECK(talk.stored()[0] == "a\r\n");
    }
    SECTION("dropped by EHLO")
    {
        talk.raw("BDAT 3\r\na\r\n");
        CHECK(talk.is_in_message());
        CHECK(talk.say("EHLO again").starts_with("250-mx.test|"));
        CHECK_FALSE(talk.is_in_message());
        CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    }
    SECTION("dropped by RSET")
    {
        talk.raw("BDAT 3\r\na\r\n");
        CHECK(talk.say("RSET") == "250 2.0.0 Ok");
        CHECK(talk.raw("BDAT 2 LAST\r\nab") == "503 5.5.1 Send RCPT first");
    }
    SECTION("with a bare LF")
    {
        CHECK(talk.raw("BDAT 4\r\na\r\n\r") == "250 2.0.0 Chunk ok");
        CHECK(talk.raw("BDAT 3 LAST\r\n\na\n") == "550 5.5.2 Message has a bare CR or LF");
    }
    SECTION("of which none can be taken")
    {
        CHECK(talk.say("RSET") == "250 2.0.0 Ok");
        CHECK(talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<nobody@in.test>\r\nBDAT 12 LAST\r\nMAIL "
                       "FROM:<x") ==
              std::string("250 2.1.0 Sender ok|") + unknown + "|554 5.5.1 No valid recipients");
    }
    SECTION("with a size that is none")
    {
        CHECK(talk.say("BDAT x LAST") == "501 5.5.4 Syntax error in arguments");
        CHECK(talk.is_closed());
    }
    SECTION("many and empty cost no stack")
    {
        const auto answer = talk.raw(lines("BDAT 0", 200'000) + "BDAT 0 LAST\r\n");
        CHECK(answer.substr(answer.rfind('|') + 1) == "250 2.0.0 Ok: queued as id-1");
    }
}

TEST_CASE("chunks over the limit are refused when the limit is passed and read to their end",
          "[smtp]")
{
    conversation talk;
    talk.add_live("small@in.test", 100);
    talk.mail();
    talk.say("RCPT TO:<small@in.test>");

    CHECK(talk.raw("BDAT 90\r\n" + std::string(90, 'x')) == "250 2.0.0 Chunk ok");
    CHECK(talk.raw("BDAT 90\r\n" + std::string(90, 'x')) == "552 5.3.4 Message is too large");
    CHECK(talk.raw("BDAT 9 LAST\r\n" + std::string(9, 'x')) == "503 5.5.1 Send RCPT first");
    CHECK(talk.stored().empty());
}

TEST_CASE("a chunk machine reads a chunk's octets, refused or not, and leaves what follows",
          "[smtp]")
{
    const smtp::limits bounds;
    const smtp::incoming_message::time_point now{std::chrono::hours(1)};
    smtp::incoming_message message(bounds);
    smtp::chunk_machine machine(message);
    message.begin(100, now);
    machine.begin_message();
    const bool is_refused = GENERATE(false, true);
    const smtp::chunk given{.size = 4, .is_last = true};
    if (is_refused)
        machine.begin_refused(given, "503 x");
    else
        machine.begin(given);

    std::string_view input = "ab";
    const auto first = machine.resume(input, now);
    CHECK(first.what == (is_refused ? step_kind::resume : step_kind::append));
    CHECK(first.bytes == (is_refused ? "" : "ab"));
    CHECK(machine.resume(input, now).what == step_kind::read);
    input = "cdQUIT\r\n";
    CHECK(machine.resume(input, now).bytes == (is_refused ? "" : "cd"));
    CHECK(machine.resume(input, now).what == step_kind::end);

    CHECK(input == "QUIT\r\n");
    CHECK(machine.is_last());
    CHECK(machine.refusal() == (is_refused ? "503 x" : ""));
    CHECK(message.size() == (is_refused ? 0 : 4));
}
