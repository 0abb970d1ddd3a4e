#include "mail-ingest/smtp/command_machine.hpp"

#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;
using namespace std::string_literals;
using smtp::login_policy;
using testing::conversation;

namespace {

// The ports of capture.md: with STARTTLS, under TLS from the first byte, and in the clear.
constexpr smtp::session_machine::client submission{.can_start_tls = true,
                                                   .logins = login_policy::after_tls};
constexpr smtp::session_machine::client submissions{.logins = login_policy::after_tls};
constexpr smtp::session_machine::client clear{.logins = login_policy::at_once};

const std::string needs_tls = "530 5.7.0 Must issue a STARTTLS command first";
const std::string needs_login = "530 5.7.0 Authentication required";
const std::string good = "235 2.7.0 Authentication successful";
const std::string bad = "535 5.7.8 Authentication credentials invalid";
const std::string undecodable = "501 5.5.2 Cannot decode response";
const std::string sender_ok = "250 2.1.0 Sender ok";
const std::string recipient_ok = "250 2.1.5 Recipient ok";

std::string plain(const std::string& user, const std::string& password,
                  const std::string& acts_as = "")
{
    return to_base64(acts_as + '\0' + user + '\0' + password);
}

const std::string own = plain("cap_own", "tic_good");

bool offers(const std::string& reply, const std::string& extension)
{
    return (reply + "|").find("-" + extension + "|") != std::string::npos;
}

} // namespace

TEST_CASE("AUTH is offered where a login can be given now", "[smtp]")
{
    conversation talk({}, submission);
    talk.greet();
    const auto before = talk.say("EHLO x");
    CHECK(offers(before, "STARTTLS"));
    CHECK_FALSE(offers(before, "AUTH PLAIN LOGIN"));
    CHECK(talk.say("STARTTLS") == "220 2.0.0 Ready to start TLS|[tls]");
    const auto under_tls = talk.say("EHLO x");
    CHECK_FALSE(offers(under_tls, "STARTTLS"));
    CHECK(offers(under_tls, "AUTH PLAIN LOGIN"));
    CHECK(talk.say("AUTH PLAIN " + own) == good);
    const auto after = talk.say("EHLO x");
    CHECK_FALSE(offers(after, "STARTTLS"));
    CHECK_FALSE(offers(after, "AUTH PLAIN LOGIN"));

    conversation in_clear({}, clear);
    in_clear.greet();
    CHECK(in_clear.say("EHLO x") ==
          "250-mx.test|250-PIPELINING|250-SIZE 26214400|250-8BITMIME|250-SMTPUTF8|"
          "250-ENHANCEDSTATUSCODES|250-CHUNKING|250-AUTH PLAIN LOGIN|"
          "250 LIMITS RCPTMAX=100 MAILMAX=1000");
    CHECK(in_clear.say("STARTTLS") == "502 5.5.1 Command not implemented");

    conversation under({}, submissions);
    under.start_tls();
    CHECK(under.greet() == "220 mx.test ESMTP");
    CHECK(offers(under.say("EHLO x"), "AUTH PLAIN LOGIN"));
    CHECK(under.say("STARTTLS") == "503 5.5.1 TLS is already active");
}

TEST_CASE("a port without logins answers AUTH as ever", "[smtp]")
{
    conversation talk({}, {.can_start_tls = true});
    talk.greet();
    CHECK_FALSE(offers(talk.say("EHLO x"), "AUTH PLAIN LOGIN"));
    for (const auto& line : {"AUTH"s, "AUTH PLAIN"s, "auth login"s, "AUTH PLAIN " + own})
        CHECK(talk.say(line) == "502 5.5.1 Command not implemented");
    CHECK(talk.raw("AUTH PLAIN\r\nNOOP\r\n") == "502 5.5.1 Command not implemented|250 2.0.0 Ok");
    CHECK(talk.say("MAIL FROM:<a@b.test> AUTH=<>") == "555 5.5.4 Unknown or malformed parameter");
    CHECK(talk.say("VRFY box") == "252 2.5.0 Cannot verify; send some mail and see");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == sender_ok);
    CHECK(talk.logins().empty());
    CHECK(talk.admissions() == 0);
}

TEST_CASE("before TLS nothing is taken, and no credentials are looked at", "[smtp]")
{
    conversation talk({}, submission);
    talk.hello();

    for (const auto& line : {"AUTH PLAIN"s, "AUTH PLAIN " + own, "AUTH"s, "AUTH LOGIN"s,
                             "MAIL FROM:<a@b.test>"s, "RCPT TO:<a@b.test>"s, "DATA"s, "VRFY x"s})
        CHECK(talk.say(line) == needs_tls);
    CHECK(talk.raw("BDAT 3\r\nabc") == needs_tls);
    CHECK(talk.logins().empty());
    CHECK(talk.look_ups() == 0);
    CHECK(talk.say("NOOP") == "250 2.0.0 Ok");
    CHECK(talk.say("RSET") == "250 2.0.0 Ok");

    conversation in_clear({}, submission);
    in_clear.hello();
    in_clear.say("AUTH PLAIN");
    CHECK_FALSE(in_clear.session_machine().take_login_in_clear());
    in_clear.say("AUTH PLAIN " + own);
    CHECK(in_clear.session_machine().take_login_in_clear());
    CHECK_FALSE(in_clear.session_machine().take_login_in_clear());
}

TEST_CASE("without a login nothing is taken, nor after a wrong one", "[smtp]")
{
    conversation talk({}, clear);
    talk.greet();
    CHECK(talk.say("MAIL FROM:<a@b.test>") == needs_login);
    talk.say("EHLO x");
    const auto refused = [&] {
        for (const auto* line : {"MAIL FROM:<a@b.test>", "RCPT TO:<box@in.test>", "DATA", "VRFY x"})
            CHECK(talk.say(line) == needs_login);
    };
    refused();
    CHECK(talk.say("AUTH PLAIN " + plain("cap_own", "tic_bad")) == bad);
    talk.say("NOOP");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == needs_login);
    CHECK(talk.say("RCPT TO:<box@in.test>") == needs_login);
    CHECK(talk.raw("BDAT 5 LAST\r\nhello") == needs_login);
    CHECK(talk.look_ups() == 0);
    CHECK(talk.stored().empty());
}

TEST_CASE("what System.Net.Mail sends after a refused login reaches nobody", "[smtp]")
{
    conversation talk({}, clear);
    talk.hello();

    CHECK(talk.say("AUTH login " + to_base64("cap_own")) == "334 UGFzc3dvcmQ6");
    CHECK(talk.say(to_base64("tic_bad")) == bad);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == needs_login);
    CHECK(talk.say("RCPT TO:<box@in.test>") == needs_login);
    CHECK(talk.say("DATA") == needs_login);
    CHECK(talk.stored().empty());
}

TEST_CASE("the dialogues of AUTH", "[smtp]")
{
    struct transcript
    {
        std::vector<std::string> lines;
        std::vector<std::string> replies;
    };
    const std::string user = to_base64("cap_own");
    const std::string password = to_base64("tic_good");
    const std::string ask_user = "334 VXNlcm5hbWU6";
    const std::string ask_password = "334 UGFzc3dvcmQ6";
    const std::string cancelled = "501 5.7.0 Authentication cancelled";
    const std::string too_long = "500 5.5.6 Authentication exchange line is too long";
    const std::string arguments = "501 5.5.4 Syntax error in arguments";
    const std::string mechanism = "504 5.5.4 Unrecognized authentication type";
    const std::vector<transcript> dialogues{
        {{"AUTH PLAIN " + own}, {good}},
        {{"auth plain " + own}, {good}},
        {{"AUTH PLAIN " + plain("cap_own", "tic_good", "cap_own")}, {good}},
        {{"AUTH PLAIN", own}, {"334 ", good}},
        {{"AUTH LOGIN", user, password}, {ask_user, ask_password, good}},
        {{"AUTH LOGIN " + user, password}, {ask_password, good}},
        {{"AUTH login " + user, password}, {ask_password, good}},
        {{"AUTH PLAIN " + plain("cap_own", "tic_bad")}, {bad}},
        {{"AUTH PLAIN " + plain("' OR 1=1 --", "x")}, {bad}},
        {{"AUTH PLAIN " + plain("", "")}, {bad}},
        {{"AUTH LOGIN", to_base64("nobody"), password}, {ask_user, ask_password, bad}},
        {{"AUTH CRAM-MD5", "AUTH XOAUTH2 abc=", "AUTH SCRAM-SHA-256", "AUTH PLAIN " + own},
         {mechanism, mechanism, mechanism, good}},
        {{"AUTH", "AUTH PLAIN a b", "AUTH PLAIN " + own}, {arguments, arguments, good}},
        {{"AUTH PLAIN", "*", "AUTH PLAIN", own}, {"334 ", cancelled, "334 ", good}},
        {{"AUTH LOGIN", user, "*"}, {ask_user, ask_password, cancelled}},
        {{"AUTH PLAIN", "!!!", "NOOP"}, {"334 ", undecodable, "250 2.0.0 Ok"}},
        {{"AUTH PLAIN", "", "NOOP"}, {"334 ", undecodable, "250 2.0.0 Ok"}},
        {{"AUTH PLAIN =", "NOOP"}, {undecodable, "250 2.0.0 Ok"}},
        {{"AUTH PLAIN", std::string(3'000, 'A'), "NOOP"}, {"334 ", too_long, "250 2.0.0 Ok"}},
        {{"AUTH PLAIN " + std::string(4'096, 'A')}, {"500 5.5.2 Line too long"}},
        {{"AUTH PLAIN " + plain("cap_own", "tic_good\0"s)}, {undecodable}},
        {{"AUTH PLAIN " + to_base64("cap_own")}, {undecodable}},
        {{"AUTH PLAIN", "QUIT"}, {"334 ", undecodable}},
        {{"AUTH PLAIN", "MAIL FROM:<a@b.test>", "MAIL FROM:<a@b.test>"},
         {"334 ", undecodable, needs_login}},
        {{"AUTH PLAIN " + own, "AUTH PLAIN " + own, "AUTH PLAIN"},
         {good, "503 5.5.1 Already logged in", "503 5.5.1 Already logged in"}},
    };
    for (const auto& one : dialogues) {
        conversation talk({}, clear);
        talk.hello();
        for (std::size_t i = 0; i < one.lines.size(); ++i) {
            INFO(one.lines[i].substr(0, 60));
            CHECK(talk.say(one.lines[i]) == one.replies[i]);
        }
        CHECK_FALSE(talk.is_closed());
    }
}

TEST_CASE("AUTH comes after EHLO and not within a transaction", "[smtp]")
{
    conversation talk({}, clear);
    talk.greet();
    CHECK(talk.say("AUTH PLAIN " + own) == "503 5.5.1 Send EHLO first");
    talk.say("EHLO x");
    CHECK(talk.say("AUTH PLAIN " + own) == good);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == sender_ok);
    CHECK(talk.say("AUTH PLAIN " + own) == "503 5.5.1 Already logged in");
    CHECK(talk.say("STARTTLS") == "503 5.5.1 Already logged in");
    CHECK(talk.say("RCPT TO:<c@d.test>") == recipient_ok);
}

TEST_CASE("what is sent behind AUTH or a line of its exchange ends the session", "[smtp]")
{
    const std::string out_of_turn = "554 5.5.0 Client must wait for the reply";
    SECTION("behind AUTH with a response")
    {
        conversation talk({}, clear);
        talk.hello();
        CHECK(talk.raw("AUTH PLAIN " + own + "\r\nMAIL FROM:<a@b.test>\r\n") == out_of_turn);
        CHECK(talk.is_closed());
        CHECK(talk.logins().empty());
    }
    SECTION("behind AUTH without one")
    {
        conversation talk({}, clear);
        talk.hello();
        CHECK(talk.raw("AUTH PLAIN\r\n" + own + "\r\n") == out_of_turn);
        CHECK(talk.logins().empty());
    }
    SECTION("behind a response")
    {
        conversation talk({}, clear);
        talk.hello();
        talk.say("AUTH PLAIN");
        CHECK(talk.raw(own + "\r\nM") == out_of_turn);
        CHECK(talk.logins().empty());
    }
    SECTION("behind STARTTLS")
    {
        conversation talk({}, submission);
        talk.hello();
        CHECK(talk.raw("STARTTLS\r\nAUTH PLAIN " + own + "\r\n") == out_of_turn);
        CHECK(talk.is_closed());
        CHECK(talk.logins().empty());
    }
}

TEST_CASE("a response may come in pieces", "[smtp]")
{
    conversation talk({}, clear);
    talk.hello();
    talk.say("AUTH PLAIN");

    for (const char c : own)
        CHECK(talk.raw(std::string(1, c)).empty());

    CHECK(talk.raw("\r\n") == good);
    CHECK(talk.logins().front().password == "tic_good");
}

TEST_CASE("the second and third failure of a session wait, the fourth ends it", "[smtp]")
{
    conversation talk({}, clear);
    talk.hello();
    const auto wrong = "AUTH PLAIN " + plain("cap_own", "tic_bad");

    CHECK(talk.say(wrong) == bad);
    CHECK(talk.say(wrong) == "[1000]" + bad);
    CHECK(talk.say(wrong) == "[1000]" + bad);
    CHECK(talk.say(wrong) == "421 4.7.0 Too many failed logins");
    CHECK(talk.is_closed());

    conversation again({}, clear);
    again.hello();
    for (int i = 0; i < 3; ++i)
        again.say(wrong);
    CHECK(again.say("AUTH PLAIN " + own) == good);
}

TEST_CASE("what else a login is answered", "[smtp]")
{
    using smtp::login_status;
    struct row
    {
        smtp::login_result result;
        std::string reply;
        bool is_closed;
    };
    for (const auto& [result, reply, is_closed] :
         std::vector<row>{{{login_status::good, {}, 2s}, "[2000]" + good, false},
                          {{login_status::bad, {}, 5s}, "[5000]" + bad, false},
                          {{login_status::unavailable, {}, {}},
                           "454 4.7.0 Temporary authentication failure",
                           false},
                          {{login_status::too_many_sessions, {}, {}},
                           "421 4.7.0 Too many connections of this login",
                           true},
                          {{login_status::too_many_failures, {}, {}},
                           "421 4.7.0 Too many failed logins",
                           true}}) {
        conversation talk({}, clear);
        talk.set_login_result(result);
        talk.hello();
        CHECK(talk.say("AUTH PLAIN " + own) == reply);
        CHECK(talk.is_closed() == is_closed);
        CHECK(talk.session_machine().needs_login() == (result.status != login_status::good));
    }
}

TEST_CASE("with a login mail to anybody is the one inbox's", "[smtp]")
{
    conversation talk({}, clear);
    talk.log_in();

    CHECK(talk.say("MAIL FROM:<>") == sender_ok);
    const std::vector<std::string> recipients{"alice@shop.example", "Bob+Tag@SHOP.example",
                                              "x@[192.0.2.1]",      "\"a b\"@quoted.example",
                                              "postmaster",         "admin@in.test",
                                              "box@in.test",        "nobody@in.test",
                                              "u%x@in.test",        "*@in.test"};
    for (const auto& one : recipients)
        CHECK(talk.say("RCPT TO:<" + one + ">") == recipient_ok);
    talk.say("DATA");
    CHECK(talk.say("Subject: x\r\n\r\nhello\r\n.") == "250 2.0.0 Ok: queued as id-1");

    CHECK(talk.look_ups() == 0);
    const auto& envelope = talk.envelopes().at(0);
    CHECK(envelope.login == "cap_own");
    REQUIRE(envelope.recipients.size() == recipients.size());
    for (std::size_t i = 0; i < recipients.size(); ++i) {
        CHECK(envelope.recipients[i].as_given == recipients[i]);
        CHECK(envelope.recipients[i].inbox == talk.own_login.inbox);
        CHECK(envelope.recipients[i].account == talk.own_login.account);
    }
}

TEST_CASE("a pipelined group of a logged-in client is answered in order and at once", "[smtp]")
{
    conversation talk({}, clear);
    talk.log_in();

    CHECK(talk.raw("MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nRCPT TO:<e@f.test>\r\n"
                   "DATA\r\n") == sender_ok + "|" + recipient_ok + "|" + recipient_ok +
                                      "|354 End data with <CR><LF>.<CR><LF>");
}

TEST_CASE("MAIL and RCPT of a logged-in client", "[smtp]")
{
    conversation talk({}, clear);
    talk.log_in();
    for (const auto* line :
         {"MAIL FROM:<a@b.test> AUTH=<>", "MAIL FROM:<a@b.test> AUTH=e+3Dmc2@example.com",
          "MAIL FROM:<a@b.test> SIZE=1000 auth=<> BODY=8BITMIME", "MAIL FROM:<>",
          "MAIL FROM:<ceo@elsewhere.example>"}) {
        CHECK(talk.say(line) == sender_ok);
        talk.say("RSET");
    }
    CHECK(talk.say("MAIL FROM:<nodomain>") == "501 5.1.7 Bad sender address syntax");
    for (const auto* line :
         {"MAIL FROM:<a@b.test> AUTH=", "MAIL FROM:<a@b.test> AUTH",
          "MAIL FROM:<a@b.test> AUTH=<> AUTH=<>", "MAIL FROM:<a@b.test> RET=HDRS"})
        CHECK(talk.say(line) == "555 5.5.4 Unknown or malformed parameter");
    CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=10485761") == "552 5.3.4 Message is too large");
    CHECK(talk.say("MAIL FROM:<a@b.test> SIZE=10485760") == sender_ok);
    CHECK(talk.say("RCPT TO:<\xe7\x94\xa8\xe6\x88\xb7@x.example>") ==
          "553 5.6.7 Address needs SMTPUTF8");
    CHECK(talk.say("RCPT TO:<a b@x.example>") == "501 5.1.3 Bad recipient address syntax");
    CHECK(talk.say("RCPT TO:<>") == "501 5.1.3 Bad recipient address syntax");
    CHECK(talk.say("RCPT TO:<a@x.example> NOTIFY=NEVER") ==
          "555 5.5.4 Unknown or malformed parameter");
    for (int i = 0; i < 100; ++i)
        CHECK(talk.say("RCPT TO:<r" + std::to_string(i) + "@x.example>") == recipient_ok);
    CHECK(talk.say("RCPT TO:<r101@x.example>") == "452 4.5.3 Too many recipients");
}

TEST_CASE("a login that ended, is over its rate or cannot be checked", "[smtp]")
{
    using smtp::admission_status;
    conversation talk({}, clear);
    talk.log_in();

    talk.set_admission(admission_status::over_rate);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "450 4.2.1 Mailbox receives too much mail just now");
    talk.set_admission(admission_status::unavailable);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "451 4.3.0 Temporary failure, try again later");
    CHECK(talk.say("RCPT TO:<a@b.test>") == "503 5.5.1 Send MAIL first");
    talk.set_admission(admission_status::admitted, 1'000);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == sender_ok);
    talk.set_admission(admission_status::ended);
    CHECK(talk.say("RCPT TO:<c@d.test>") == recipient_ok);
    talk.say("DATA");
    CHECK(talk.say("hello\r\n.") == "250 2.0.0 Ok: queued as id-1");
    CHECK(talk.envelopes().at(0).recipients.at(0).max_message_bytes == 1'000);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "421 4.7.0 Login is no longer valid");
    CHECK(talk.is_closed());
}

TEST_CASE("EHLO and RSET keep the login", "[smtp]")
{
    conversation talk({}, clear);
    talk.log_in();
    talk.say("EHLO again");
    talk.say("RSET");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == sender_ok);
    talk.say("EHLO once more");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == sender_ok);
}

TEST_CASE("a client has a minute from connect to its login, whatever it sends", "[smtp]")
{
    conversation talk({}, clear);
    talk.hello();
    for (int i = 0; i < 5; ++i) {
        CHECK(talk.pass(10s).empty());
        talk.say("NOOP");
    }
    CHECK(talk.pass(10s) == "421 4.4.2 Timeout, closing connection");

    conversation chunks({}, clear);
    chunks.hello();
    chunks.raw("BDAT 1000000\r\n" + std::string(500'000, 'x'));
    CHECK(chunks.pass(61s) == "421 4.4.2 Timeout, closing connection");

    conversation logged_in({}, clear);
    logged_in.log_in();
    CHECK(logged_in.pass(120s).empty());

    conversation mail;
    mail.hello();
    CHECK(mail.pass(120s).empty());
}

TEST_CASE("no argument of AUTH is in a reply", "[smtp]")
{
    conversation talk({}, clear);
    talk.hello();
    const auto wrong = plain("cap_own", "tic_secret");
    for (const auto& line :
         {"AUTH PLAIN " + wrong, "AUTH " + wrong, wrong, "AUTH PLAIN x " + wrong}) {
        const auto reply = talk.say(line);
        CHECK(reply.find(wrong) == std::string::npos);
        CHECK(talk.session_machine().last_reply().find(wrong) == std::string::npos);
    }
}
