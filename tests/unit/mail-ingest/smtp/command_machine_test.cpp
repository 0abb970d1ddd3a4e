#include "mail-ingest/smtp/command_machine.hpp"

#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using smtp::recipient_status;
using step_kind = smtp::command_step::kind;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";

} // namespace

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

TEST_CASE("syntax of sender and recipient", "[smtp]")
{
    conversation talk;
    talk.limits().errors_before_delay = talk.limits().errors_before_close = 0;
    talk.hello();
    const std::string bad_sender = "501 5.1.7 Bad sender address syntax";
    for (const std::string line :
         {"MAIL FROM:a@b.test", "MAIL FROM <a@b.test>", "MAIL", "MAIL FROM:<a@b.test",
          "MAIL FROM:<a@>", "MAIL FROM:<@b.test>", "MAIL FROM:<a b@c.test>",
          "MAIL FROM:<a@b..test>", "MAIL FROM:<postmaster>"})
        CHECK(talk.say(line) == bad_sender);
    CHECK(talk.say("MAIL FROM:<" + std::string(65, 'x') + "@b.test>") == bad_sender);
    CHECK(talk.say("MAIL FROM:<a@" + std::string(256, 'x') + ">") == bad_sender);

    CHECK(talk.say("MAIL FROM:<" + std::string(60, 'x') + "@" + std::string(194, 'y') + ">") ==
          bad_sender);
    CHECK(talk.say("MAIL FROM:<" + std::string(60, 'x') + "@" + std::string(193, 'y') + ">") ==
          "250 2.1.0 Sender ok");
    talk.say("RSET");
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
         {"FOO=bar", "SIZE=x", "SIZE", "SIZE=999999999999999999999", "SIZE=1 SIZE=2",
          "BODY=BINARYMIME", "SMTPUTF8=1", "RET=FULL", "AUTH=<>"})
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

TEST_CASE("nobody asks whether a sender's domain exists or what it publishes", "[smtp]")
{
    for (const char* sender :
         {"a@no-such-domain.invalid", "a@localhost", "a@[192.0.2.1]", "postmaster@in.test"}) {
        conversation talk;
        talk.hello();
        CHECK(talk.say("MAIL FROM:<" + std::string(sender) + ">") == "250 2.1.0 Sender ok");
        CHECK(talk.look_ups() == 0);
    }
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
    CHECK(talk.say("RCPT TO:<fast@in.test>") ==
          "450 4.2.1 Mailbox receives too much mail just now");
    CHECK(talk.say("RCPT TO:<lost@in.test>") == "451 4.3.0 Temporary failure, try again later");
    for (const char* address : {"u@elsewhere.test", "u@[192.0.2.1]", "box@in.test@elsewhere.test"})
        CHECK_THAT(talk.say("RCPT TO:<" + std::string(address) + ">"),
                   Catch::StartsWith("550 5.7.1") || Catch::StartsWith("501"));
    for (const char* address :
         {"u%x@in.test", "a!b@in.test", "Under_Score!@in.test", "-x@in.test", "\"\"@in.test"})
        CHECK(talk.say("RCPT TO:<" + std::string(address) + ">") == unknown);
    for (const char* address : {"BOX@IN.TEST", "box+a+b@in.test", "\"box\"@in.test",
                                "@relay.test,@b.test:box@in.test", "postmaster", "box@in.test."})
        CHECK(talk.say("RCPT TO:<" + std::string(address) + ">") == "250 2.1.5 Recipient ok");
}

TEST_CASE("declared sizes are judged at MAIL and at RCPT", "[smtp]")
{
    conversation talk;
    talk.add_live("small@in.test", 1'000);
    talk.hello();
    for (const char* size : {"99999999", "18446744073709551616", "99999999999999999999"})
        CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=" + std::string(size)) ==
              "552 5.3.4 Message is too large");
    talk.say("MAIL FROM:<a@b.test> SIZE=2000");
    CHECK(talk.say("RCPT TO:<small@in.test>") == "550 5.3.4 Message is too large for this mailbox");
    CHECK(talk.say("RCPT TO:<box@in.test>") == "250 2.1.5 Recipient ok");
}

TEST_CASE("recipients with different limits share a message only where its declared size fits both",
          "[smtp]")
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
        REQUIRE(talk.say("RCPT TO:<box+" + std::to_string(i) + "@in.test>") ==
                "250 2.1.5 Recipient ok");

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
        CHECK(
            talk.say("MAIL FROM:<a@b.test>") ==
            (is_exempt ? "250 2.1.0 Sender ok" : "421 4.7.0 Too many messages on one connection"));
        CHECK(talk.is_closed() != is_exempt);
    }
}

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
        {recipient_status::full_for_now, "452 4.2.2 Mailbox is full, try again later"},
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

TEST_CASE("a transaction goes from hello to chunks, and ends where RFC 5321 and 3030 end it",
          "[smtp]")
{
    const smtp::limits bounds;
    const smtp::server_state server;
    smtp::reply_writer replies(bounds);
    smtp::command_machine machine(bounds, {.can_start_tls = true}, replies);
    const auto say = [&](const std::string& line) {
        const std::string bytes = line + "\r\n";
        std::string_view input = bytes;
        replies.clear_output();
        return machine.resume(input, server).what;
    };
    const auto begin_chunks = [&] {
        REQUIRE(say("MAIL FROM:<a@b.test>") == step_kind::replied);
        REQUIRE(say("RCPT TO:<box@in.test>") == step_kind::look_up);
        smtp::recipient_result found(recipient_status::live);
        found.max_message_bytes = 100;
        REQUIRE(machine.on_recipient_result(found).what == step_kind::replied);
        REQUIRE(say("BDAT 3") == step_kind::chunk);
        machine.begin_chunks();
        REQUIRE(say("MAIL FROM:<a@b.test>") == step_kind::replied);
        REQUIRE(replies.output() == "503 5.5.1 Message is being sent in chunks\r\n");
    };
    REQUIRE(say("MAIL FROM:<a@b.test>") == step_kind::replied);
    REQUIRE(replies.output() == "503 5.5.1 Send EHLO first\r\n");
    say("EHLO client.test");
    begin_chunks();
    CHECK(machine.allowed_bytes() == 100);

    const std::string end = GENERATE("RSET", "EHLO again", "HELO again", "STARTTLS");
    const auto step = say(end);
    CHECK(step == (end == "STARTTLS" ? step_kind::start_tls : step_kind::replied));
    CHECK_FALSE(machine.is_in_chunks());
    CHECK(machine.envelope().recipients.empty());

    if (end == "STARTTLS") {
        machine.tls_started("TLSv1.3");
        CHECK(machine.envelope().tls == "TLSv1.3");
        CHECK(machine.envelope().helo.empty());
        say("MAIL FROM:<a@b.test>");
        CHECK(replies.output() == "503 5.5.1 Send EHLO first\r\n");
    } else {
        begin_chunks();
        machine.end_transaction();
        CHECK_FALSE(machine.is_in_chunks());
    }
}
