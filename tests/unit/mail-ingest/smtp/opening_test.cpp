#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";

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

TEST_CASE("STARTTLS is offered where there is a certificate, MAILMAX not to exempt clients",
          "[smtp]")
{
    conversation talk({}, {.is_exempt = true, .can_start_tls = true});
    talk.greet();

    CHECK(talk.say("EHLO x") ==
          "250-mx.test|250-PIPELINING|250-SIZE "
          "26214400|250-8BITMIME|250-SMTPUTF8|250-ENHANCEDSTATUSCODES|250-CHUNKING|"
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
    for (const auto& [bytes, reply] : std::vector<std::pair<std::string, std::string>>{
             {"EHLO x\r\n", "554 5.5.0 Client must wait for the reply"},
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

TEST_CASE("other protocols on the port get 521", "[smtp]")
{
    for (const std::string bytes :
         {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n",
          "POST /x HTTP/1.1\r\n", "DELETE /x HTTP/1.1\n", "CONNECT x:25 HTTP/1.1\r\n",
          "PRI * HTTP/2.0\r\n", "\x16\x03\x01\x02"}) {
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
    for (const char* line :
         {"EXPN list", "ETRN x", "TURN", "AUTH PLAIN xx", "SEND FROM:<a@b.test>", "STARTTLS"})
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

TEST_CASE("a pipelined group is answered in order and at once", "[smtp]")
{
    conversation talk;
    talk.hello();

    CHECK(talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<nobody@in.test>\r\nRCPT "
                   "TO:<box@in.test>\r\nDATA\r\n") ==
          std::string("250 2.1.0 Sender ok|") + unknown +
              "|250 2.1.5 Recipient ok|354 End data with <CR><LF>.<CR><LF>");
    CHECK(talk.raw("x\r\n.\r\nMAIL FROM:<a@b.test>\r\nRSET\r\nQUIT\r\n") ==
          "250 2.0.0 Ok: queued as id-1|250 2.1.0 Sender ok|250 2.0.0 Ok|221 2.0.0 Bye");
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

TEST_CASE("a connection can be turned away", "[smtp]")
{
    conversation talk;
    talk.session_machine().turn_away("421 4.3.2 Too many connections, try again later");
    CHECK(talk.run() == "421 4.3.2 Too many connections, try again later");
    CHECK(talk.is_closed());
}
