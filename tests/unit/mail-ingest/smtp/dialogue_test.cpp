#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using smtp::message_status;
using smtp::recipient_status;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";

std::string lines(const std::string& line, int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += line + "\r\n";
    return text;
}

} // namespace

TEST_CASE("a plain session is answered as RFC 5321 appendix D has it", "[smtp]")
{
    conversation talk;

    CHECK(talk.greet() == "220 mx.test ESMTP");
    CHECK(talk.say("EHLO client.test") ==
          "250-mx.test|250-PIPELINING|250-SIZE 26214400|250-8BITMIME|250-SMTPUTF8|250-ENHANCEDSTATUSCODES|250-CHUNKING|"
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

TEST_CASE("STARTTLS is offered where there is a certificate, MAILMAX not to exempt clients", "[smtp]")
{
    conversation talk({}, {.is_exempt = true, .can_start_tls = true});
    talk.greet();

    CHECK(talk.say("EHLO x") ==
          "250-mx.test|250-PIPELINING|250-SIZE 26214400|250-8BITMIME|250-SMTPUTF8|250-ENHANCEDSTATUSCODES|250-CHUNKING|"
          "250-STARTTLS|250 LIMITS RCPTMAX=100");
}

TEST_CASE("HELO works as well", "[smtp]")
{
    conversation talk;
    talk.greet();

    CHECK(talk.say("HELO x") == "250 mx.test");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    CHECK(talk.say("HELO") == "501 5.5.4 Syntax error in arguments");
}

TEST_CASE("who talks before the greeting is sent away", "[smtp]")
{
    for (const auto& [bytes, reply] :
         std::vector<std::pair<std::string, std::string>>{{"EHLO x\r\n", "554 5.5.0 Client must wait for the reply"},
                                                          {"GET / HTTP/1.1\r\n", "521 5.5.1 This is an SMTP server"},
                                                          {"\x16\x03\x01", "521 5.5.1 This is an SMTP server"}}) {
        conversation talk;
        talk.raw(bytes);
        CHECK(talk.greet() == reply);
        CHECK(talk.is_closed());
    }
}

TEST_CASE("what is sent past EHLO, DATA, STARTTLS or QUIT ends the session", "[smtp]")
{
    const std::string out_of_turn = "554 5.5.0 Client must wait for the reply";
    SECTION("EHLO")
    {
        conversation talk;
        talk.greet();
        CHECK(talk.raw("EHLO x\r\nMAIL FROM:<a@b.test>\r\n") == out_of_turn);
        CHECK(talk.is_closed());
    }
    SECTION("DATA")
    {
        conversation talk;
        talk.rcpt();
        CHECK(talk.raw("DATA\r\nSubject: x\r\n.\r\n") == out_of_turn);
        CHECK(talk.stored().empty());
    }
    SECTION("QUIT")
    {
        conversation talk;
        talk.hello();
        CHECK(talk.raw("QUIT\r\nNOOP\r\n") == out_of_turn);
    }
    SECTION("STARTTLS: the plain bytes are never read as protected ones")
    {
        conversation talk({}, {.can_start_tls = true});
        talk.hello();
        CHECK(talk.raw("STARTTLS\r\nMAIL FROM:<evil@b.test>\r\n") == out_of_turn);
        CHECK(talk.is_closed());
    }
}

TEST_CASE("other protocols on the port are told so", "[smtp]")
{
    for (const std::string bytes :
         {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /x HTTP/1.1\r\n", "CONNECT x:25 HTTP/1.1\r\n", "\x16\x03\x01\x02"}) {
        conversation talk;
        talk.greet();
        CHECK(talk.raw(bytes) == "521 5.5.1 This is an SMTP server");
        CHECK(talk.is_closed());
    }
}

TEST_CASE("unknown verbs and verbs that are not served", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.say("FOO bar") == "500 5.5.2 Unknown command");
    CHECK(talk.say("") == "500 5.5.2 Unknown command");
    for (const char* line : {"EXPN list", "ETRN x", "TURN", "AUTH PLAIN xx", "SEND FROM:<a@b.test>", "STARTTLS"})
        CHECK(talk.say(line) == "502 5.5.1 Command not implemented");
}

TEST_CASE("commands out of order", "[smtp]")
{
    conversation talk;
    talk.greet();
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "503 5.5.1 Send EHLO first");
    talk.say("EHLO x");
    CHECK(talk.say("RCPT TO:<box@in.test>") == "503 5.5.1 Send MAIL first");
    CHECK(talk.say("DATA") == "503 5.5.1 Send MAIL first");
    talk.say("MAIL FROM:<a@b.test>");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "503 5.5.1 Transaction already under way");
    CHECK(talk.say("DATA") == "503 5.5.1 Send RCPT first");
    CHECK(talk.raw("BDAT 4 LAST\r\nabcd") == "503 5.5.1 Send RCPT first");
    CHECK(talk.say("RCPT TO:<nobody@in.test>") == unknown);
    CHECK(talk.say("DATA") == "554 5.5.1 No valid recipients");
}

TEST_CASE("syntax of sender and recipient", "[smtp]")
{
    conversation talk;
    talk.limits().errors_before_delay = talk.limits().errors_before_close = 0;
    talk.hello();
    const std::string bad_sender = "501 5.1.7 Bad sender address syntax";
    for (const std::string line :
         {"MAIL FROM:a@b.test", "MAIL FROM <a@b.test>", "MAIL", "MAIL FROM:<a@b.test", "MAIL FROM:<a@>", "MAIL FROM:<@b.test>",
          "MAIL FROM:<a b@c.test>", "MAIL FROM:<a@b..test>", "MAIL FROM:<postmaster>"})
        CHECK(talk.say(line) == bad_sender);
    CHECK(talk.say("MAIL FROM:<" + std::string(65, 'x') + "@b.test>") == bad_sender);
    CHECK(talk.say("MAIL FROM:<a@" + std::string(256, 'x') + ">") == bad_sender);

    CHECK(talk.say("MAIL FROM: <a@b.test>") == "250 2.1.0 Sender ok");
    const std::string bad_recipient = "501 5.1.3 Bad recipient address syntax";
    for (const char* line : {"RCPT TO:box@in.test", "RCPT TO:<>", "RCPT TO:<box>", "RCPT"})
        CHECK(talk.say(line) == bad_recipient);
    CHECK(talk.say("RCPT TO: <box@in.test>") == "250 2.1.5 Recipient ok");
}

TEST_CASE("parameters of MAIL and RCPT", "[smtp]")
{
    conversation talk;
    talk.limits().errors_before_delay = talk.limits().errors_before_close = 0;
    talk.hello();
    const std::string bad = "555 5.5.4 Unknown or malformed parameter";

    for (const char* parameters :
         {"FOO=bar", "SIZE=x", "SIZE", "SIZE=1 SIZE=2", "BODY=BINARYMIME", "SMTPUTF8=1", "RET=FULL", "AUTH=<>"})
        CHECK(talk.say("MAIL FROM:<a@b.test> " + std::string(parameters)) == bad);
    CHECK(talk.say("MAIL FROM:<a@b.test> size=5 body=7bit smtputf8") == "250 2.1.0 Sender ok");
    CHECK(talk.say("RCPT TO:<box@in.test> NOTIFY=NEVER") == bad);
    CHECK(talk.say("RCPT TO:<box@in.test> ") == "250 2.1.5 Recipient ok");
}

TEST_CASE("an address in UTF-8 needs SMTPUTF8, and its domain is compared in A-labels", "[smtp]")
{
    conversation talk;
    talk.add_live("box@xn--r8jz45g.test", 1'000);
    talk.hello();
    CHECK(talk.say("MAIL FROM:<用户@例え.test>") == "553 5.6.7 Address needs SMTPUTF8");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    CHECK(talk.say("RCPT TO:<box@例え.test>") == "553 5.6.7 Address needs SMTPUTF8");
    talk.say("RSET");
    CHECK(talk.say("MAIL FROM:<用户@例え.test> SMTPUTF8") == "250 2.1.0 Sender ok");
    CHECK(talk.say("RCPT TO:<box@例え.test>") == "250 2.1.5 Recipient ok");
    talk.say("DATA");
    talk.raw("x\r\n.\r\n");
    CHECK(talk.envelopes().at(0).mail_from == "用户@例え.test");
}

TEST_CASE("bounces are mail", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.say("MAIL FROM:<>") == "250 2.1.0 Sender ok");
    talk.say("RCPT TO:<box@in.test>");
    talk.say("DATA");
    CHECK(talk.raw("x\r\n.\r\n") == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.envelopes()[0].mail_from.empty());
}

TEST_CASE("what recipients are answered", "[smtp]")
{
    conversation talk;
    talk.limits().errors_before_delay = talk.limits().errors_before_close = 0;
    talk.limits().unknown_before_delay = talk.limits().unknown_before_close = 0;
    talk.set("old@in.test", recipient_status::quarantined);
    talk.set("full@in.test", recipient_status::full);
    talk.set("fast@in.test", recipient_status::over_rate);
    talk.set("lost@in.test", recipient_status::unavailable);
    talk.mail();

    CHECK(talk.say("RCPT TO:<nobody@in.test>") == unknown);
    CHECK(talk.say("RCPT TO:<old@in.test>") == unknown);
    CHECK(talk.say("RCPT TO:<full@in.test>") == "550 5.2.2 Mailbox is full");
    CHECK(talk.say("RCPT TO:<fast@in.test>") == "450 4.2.1 Mailbox receives too much mail just now");
    CHECK(talk.say("RCPT TO:<lost@in.test>") == "451 4.3.0 Temporary failure, try again later");
    for (const char* address : {"u@elsewhere.test", "u@[192.0.2.1]", "box@in.test@elsewhere.test"})
        CHECK_THAT(talk.say("RCPT TO:<" + std::string(address) + ">"),
                   Catch::Matchers::StartsWith("550 5.7.1") || Catch::Matchers::StartsWith("501"));
    for (const char* address : {"u%x@in.test", "a!b@in.test", "Under_Score!@in.test", "-x@in.test"})
        CHECK(talk.say("RCPT TO:<" + std::string(address) + ">") == unknown);
    for (const char* address :
         {"BOX@IN.TEST", "box+a+b@in.test", "\"box\"@in.test", "@relay.test,@b.test:box@in.test", "postmaster", "box@in.test."})
        CHECK(talk.say("RCPT TO:<" + std::string(address) + ">") == "250 2.1.5 Recipient ok");
}

TEST_CASE("declared sizes are judged at MAIL and at RCPT", "[smtp]")
{
    conversation talk;
    talk.add_live("small@in.test", 1'000);
    talk.hello();
    CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=99999999") == "552 5.3.4 Message is too large");
    talk.say("MAIL FROM:<a@b.test> SIZE=2000");
    CHECK(talk.say("RCPT TO:<small@in.test>") == "550 5.3.4 Message is too large for this mailbox");
    CHECK(talk.say("RCPT TO:<box@in.test>") == "250 2.1.5 Recipient ok");
}

TEST_CASE("recipients with different limits share a message only where its declared size fits both", "[smtp]")
{
    conversation talk;
    talk.add_live("small@in.test", 1'000);
    talk.rcpt();
    CHECK(talk.say("RCPT TO:<small@in.test>") == "452 4.5.3 Send this recipient's copy separately");
    CHECK(talk.say("RCPT TO:<other@in.test>") == "250 2.1.5 Recipient ok");
    talk.say("RSET");

    talk.say("MAIL FROM:<a@b.test> SIZE=500");
    CHECK(talk.say("RCPT TO:<box@in.test>") == "250 2.1.5 Recipient ok");
    CHECK(talk.say("RCPT TO:<small@in.test>") == "250 2.1.5 Recipient ok");
    talk.say("DATA");
    CHECK(talk.raw(std::string(1'500, 'x') + "\r\n.\r\n") == "552 5.3.4 Message is too large");
}

TEST_CASE("the 101st recipient is for another transaction", "[smtp]")
{
    conversation talk;
    talk.mail();
    for (int i = 0; i < 100; ++i)
        REQUIRE(talk.say("RCPT TO:<box+" + std::to_string(i) + "@in.test>") == "250 2.1.5 Recipient ok");

    CHECK(talk.say("RCPT TO:<box+100@in.test>") == "452 4.5.3 Too many recipients");
}

TEST_CASE("message MAILMAX+1 ends the connection, but not an exempt client's", "[smtp]")
{
    smtp::limits bounds;
    bounds.messages = 2;
    for (const bool is_exempt : {false, true}) {
        conversation talk(bounds, {.is_exempt = is_exempt});
        talk.hello();
        for (int i = 0; i < 2; ++i) {
            talk.say("MAIL FROM:<a@b.test>");
            talk.say("RSET");
        }
        CHECK(talk.say("MAIL FROM:<a@b.test>") ==
              (is_exempt ? "250 2.1.0 Sender ok" : "421 4.7.0 Too many messages on one connection"));
        CHECK(talk.is_closed() != is_exempt);
    }
}

TEST_CASE("commands without effect", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    const auto look_ups = talk.look_ups();

    CHECK(talk.say("VRFY box@in.test") == "252 2.5.0 Cannot verify; send some mail and see");
    CHECK(talk.look_ups() == look_ups);
    CHECK(talk.say("HELP") == "214 2.0.0 See RFC 5321");
    CHECK(talk.say("NOOP whatever") == "250 2.0.0 Ok");
    CHECK(talk.say("RSET") == "250 2.0.0 Ok");
    CHECK(talk.say("DATA") == "503 5.5.1 Send MAIL first");
}

TEST_CASE("what the store says becomes the reply", "[smtp]")
{
    const std::vector<std::pair<message_status, std::string>> table = {
        {message_status::stored, "250 2.0.0 Ok: queued as id-1"},
        {message_status::gone, unknown},
        {message_status::full, "550 5.2.2 Mailbox is full"},
        {message_status::looping, "554 5.4.6 Too many hops, or a loop"},
        {message_status::too_large, "552 5.3.4 Message is too large"},
        {message_status::overloaded, "452 4.3.1 Insufficient system storage, try again later"},
        {message_status::unavailable, "451 4.3.0 Temporary failure, try again later"},
    };
    for (const auto& [outcome, reply] : table) {
        conversation talk;
        talk.set_outcome(outcome);
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
    talk.dialogue().set_overloaded(true);

    CHECK(talk.say("MAIL FROM:<a@b.test>") == "452 4.3.1 Insufficient system storage, try again later");
}

TEST_CASE("an overlong command line is dropped to its end and counted once", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.raw(std::string(5'000, 'x')) == "");
    CHECK(talk.raw(std::string(5'000, 'y')) == "");
    CHECK(talk.raw("z\r\nNOOP\r\n") == "500 5.5.2 Line too long|250 2.0.0 Ok");
    CHECK(talk.raw("NOOP " + std::string(3'000, 'x') + "\r\nNOOP\r\n") == "500 5.5.2 Line too long|250 2.0.0 Ok");
}

TEST_CASE("command lines end with CRLF and are text", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.raw("NOOP\n") == "500 5.5.2 Lines must be plain text and end with CRLF");
    CHECK(talk.raw(std::string("NO\0OP\r\n", 7)) == "500 5.5.2 Lines must be plain text and end with CRLF");
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

TEST_CASE("unknown recipients are slowed from the 5th and end the session at the 10th, quarantined ones are not counted",
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

TEST_CASE("a sender's address that guesses waits for every answer", "[smtp]")
{
    conversation talk;
    talk.slow("box@in.test");
    talk.mail();

    CHECK(talk.say("RCPT TO:<box@in.test>") == "[2000]250 2.1.5 Recipient ok");
}

TEST_CASE("a pipelined group is answered in order and at once", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<nobody@in.test>\r\nRCPT TO:<box@in.test>\r\nDATA\r\n") ==
          std::string("250 2.1.0 Sender ok|") + unknown + "|250 2.1.5 Recipient ok|354 End data with <CR><LF>.<CR><LF>");
    CHECK(talk.raw("x\r\n.\r\nMAIL FROM:<a@b.test>\r\nRSET\r\nQUIT\r\n") ==
          "250 2.0.0 Ok: queued as id-1|250 2.1.0 Sender ok|250 2.0.0 Ok|221 2.0.0 Bye");
}

TEST_CASE("a session cut at any byte is the same session", "[smtp]")
{
    const std::string group = "MAIL FROM:<a@b.test>\r\nRCPT TO:<box@in.test>\r\nDATA\r\n";
    const std::string message = "A: b\r\n\r\n.\r\r\n..\r\n\r.\r\n.x\r\n.\r\n";
    for (std::size_t cut = 1; cut < message.size(); ++cut) {
        smtp::limits bounds;
        bounds.takes_bare_newlines = true;
        conversation talk(bounds);
        talk.hello();
        for (const char c : group)
            talk.raw(std::string(1, c));
        talk.raw(message.substr(0, cut));
        talk.raw(message.substr(cut));
        REQUIRE(talk.stored() == std::vector<std::string>{"A: b\r\n\r\n\r\r\n.\r\n\r.\r\nx\r\n"});
    }
}

TEST_CASE("nothing but CRLF.CRLF ends the data, and a bare CR or LF is refused after it", "[smtp]")
{
    for (const std::string end :
         {"\n.\n", "\n.\r\n", "\r\n.\n", "\n\n.\r\n", "\r\n.\r\r\n", "\r.\r", "\r.\r\n", "\n.\r", "\r\n.\r\r\r\n"}) {
        conversation talk;
        talk.rcpt();
        talk.say("DATA");
        INFO(end);
        CHECK(talk.raw("Subject: x\r\n\r\nbody" + end + "MAIL FROM:<smuggled@evil.test>\r\n") == "");
        CHECK(talk.raw("more\r\n.\r\n") == "550 5.5.2 Message has a bare CR or LF");
        CHECK(talk.stored().empty());
        CHECK(talk.say("NOOP") == "250 2.0.0 Ok");
    }
}

TEST_CASE("bare newlines can be let in, byte for byte", "[smtp]")
{
    smtp::limits bounds;
    bounds.takes_bare_newlines = true;
    conversation talk(bounds);
    talk.rcpt();
    talk.say("DATA");

    CHECK(talk.raw("a\nb\n.\nc\rd\r\n.\r\n") == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.stored()[0] == "a\nb\n.\nc\rd\r\n");
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
    SECTION("and so it does after a minute")
    {
        talk.raw(lines("0123456789", 12));
        CHECK(talk.pass(std::chrono::seconds(59)) == "");
        CHECK(talk.pass(std::chrono::seconds(2)) == "421 4.4.2 Timeout, closing connection");
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
        CHECK(talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<nobody@in.test>\r\nBDAT 12 LAST\r\nMAIL FROM:<x") ==
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

TEST_CASE("chunks over the limit are refused when the limit is passed and read to their end", "[smtp]")
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

TEST_CASE("after STARTTLS nothing said before counts", "[smtp]")
{
    conversation talk({}, {.can_start_tls = true});
    talk.mail();

    CHECK(talk.say("STARTTLS") == "220 2.0.0 Ready to start TLS|[tls]");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "503 5.5.1 Send EHLO first");
    CHECK(talk.say("EHLO x").find("STARTTLS") == std::string::npos);
    CHECK(talk.say("STARTTLS") == "503 5.5.1 TLS is already active");
    talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<box@in.test>\r\nDATA\r\n");
    talk.raw("x\r\n.\r\n");
    CHECK(talk.envelopes().at(0).tls == "TLSv1.3");
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
        talk.dialogue().set_busy(true);
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
        CHECK(talk.pass(std::chrono::seconds(61)) == (is_exempt ? "" : "421 4.4.2 Timeout, closing connection"));
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
    CHECK(talk.dialogue().take_ending()->result == "timed_out");
}

TEST_CASE("at shutdown idle sessions end and messages are finished", "[smtp]")
{
    SECTION("idle")
    {
        conversation talk;
        talk.mail();
        talk.dialogue().shut_down();
        CHECK(talk.run() == "421 4.3.2 Service shutting down");
        CHECK(talk.is_closed());
    }
    SECTION("in DATA")
    {
        conversation talk;
        talk.rcpt();
        talk.say("DATA");
        talk.dialogue().shut_down();
        CHECK(talk.run() == "");
        CHECK(talk.raw("x\r\n.\r\n") == "250 2.0.0 Ok: queued as id-1|421 4.3.2 Service shutting down");
    }
    SECTION("between chunks")
    {
        conversation talk;
        talk.rcpt();
        talk.raw("BDAT 3\r\na\r\n");
        talk.dialogue().shut_down();
        CHECK(talk.run() == "");
        CHECK(talk.raw("BDAT 0 LAST\r\n") == "250 2.0.0 Ok: queued as id-1|421 4.3.2 Service shutting down");
    }
}

TEST_CASE("a connection can be turned away", "[smtp]")
{
    conversation talk;
    talk.dialogue().turn_away("421 4.3.2 Too many connections, try again later");
    CHECK(talk.run() == "421 4.3.2 Too many connections, try again later");
    CHECK(talk.is_closed());
}

TEST_CASE("a 250 for a message is confirmed by whatever is said next", "[smtp]")
{
    conversation talk;
    talk.rcpt();
    CHECK(talk.is_confirmed());

    talk.say("DATA");
    talk.raw("Subject: x\r\n\r\nhello\r\n.\r\n");
    CHECK_FALSE(talk.is_confirmed());
    talk.raw("NO");
    CHECK_FALSE(talk.is_confirmed());
    talk.raw("OP\r\n");
    CHECK(talk.is_confirmed());
}
