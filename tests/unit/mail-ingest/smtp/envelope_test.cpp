#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using smtp::recipient_status;
using testing::conversation;

namespace {

constexpr const char* unknown = "550 5.1.1 No such mailbox here";

} // namespace

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
                   Catch::Matchers::StartsWith("550 5.7.1") || Catch::Matchers::StartsWith("501"));
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
