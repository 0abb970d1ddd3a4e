#include "mail-ingest/smtp/data_machine.hpp"

#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using step_kind = smtp::message_step::kind;
using testing::conversation;

namespace {

std::string lines(const std::string& line, int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += line + "\r\n";
    return text;
}

} // namespace

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
        CHECK(ended->reply == "552 5.3.4 Message is too large");
        CHECK(ended->envelope.recipients.size() == 1);
    }
}

TEST_CASE("a data machine reads to the final dot and leaves what follows", "[smtp]")
{
    const smtp::limits bounds;
    const smtp::incoming_message::time_point now{std::chrono::hours(1)};
    smtp::incoming_message message(bounds);
    smtp::data_machine machine(message);
    message.begin(100, now);
    machine.begin();

    std::string_view input = "a\r\n..b";
    const auto first = machine.resume(input, now);
    CHECK(first.what == step_kind::append);
    CHECK(first.bytes == "a\r\n.b");
    CHECK(machine.resume(input, now).what == step_kind::read);
    input = "\r\n.\r\nQUIT\r\n";
    CHECK(machine.resume(input, now).bytes == "\r\n");
    CHECK(machine.resume(input, now).what == step_kind::end);

    CHECK(input == "QUIT\r\n");
    CHECK(message.size() == std::string_view("a\r\n.b\r\n").size());
}
