#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using smtp::message_status;
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

TEST_CASE("what the store says becomes the reply", "[smtp]")
{
    const std::vector<std::pair<message_status, std::string>> table = {
        {message_status::stored, "250 2.0.0 Ok: queued as id-1"},
        {message_status::gone, unknown},
        {message_status::full, "550 5.2.2 Mailbox is full"},
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

TEST_CASE("NUL and an empty message are taken", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    talk.say("DATA");
    CHECK(talk.raw(std::string("a\0b\r\n.\r\n", 8)) == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<box@in.test>\r\nDATA\r\n") != "");
    CHECK(talk.raw(".\r\n") == "250 2.0.0 Ok: queued as id-2");
    CHECK(talk.stored() == std::vector<std::string>{std::string("a\0b\r\n", 5), ""});
}

TEST_CASE("broken MIME, no header and no blank line are no reason to refuse a message", "[smtp]")
{
    for (const std::string message :
         {"Content-Type: multipart/mixed\r\n\r\nno boundary\r\n", "no header at all\r\n",
          "Subject: no body\r\n", "Content-Transfer-Encoding: base64\r\n\r\n!!!\r\n",
          "Content-Type: ;;;\r\n: :\r\n\r\n\xff\xfe\r\n"}) {
        conversation talk;
        talk.rcpt();
        talk.say("DATA");
        CHECK(talk.raw(message + ".\r\n") == "250 2.0.0 Ok: queued as id-1");
        CHECK(talk.stored().at(0) == message);
    }
}

TEST_CASE("a message over the limit is read to its end and refused", "[smtp]")
{
    conversation talk;
    talk.add_live("small@in.test", 100);
    talk.mail();
    talk.say("RCPT TO:<small@in.test>");
    talk.say("DATA");

    SECTION("and the session goes on")
    {
        CHECK(talk.raw(lines("0123456789", 12)) == "");
        CHECK(talk.raw(".\r\nNOOP\r\n") == "552 5.3.4 Message is too large|250 2.0.0 Ok");
        CHECK(talk.stored().empty());
    }
    SECTION("past twice the limit the session ends")
    {
        CHECK(talk.raw(lines("0123456789", 12)) == "");
        CHECK(talk.raw(lines("0123456789", 12)) == "552 5.3.4 Message is too large");
        CHECK(talk.is_closed());
    }
    SECTION("also when it all comes at once")
    {
        CHECK(talk.raw(lines("0123456789", 30) + ".\r\nNOOP\r\n") ==
              "552 5.3.4 Message is too large");
        CHECK(talk.is_closed());
    }
    SECTION("and so it does after a minute")
    {
        talk.raw(lines("0123456789", 12));
        CHECK(talk.pass(std::chrono::seconds(59)) == "");
        CHECK(talk.pass(std::chrono::seconds(2)) == "552 5.3.4 Message is too large");
        CHECK(talk.is_closed());
        const auto ended = talk.session_machine().take_ending();
        CHECK(ended->result == "too_large");
        CHECK(ended->code == 552);
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
