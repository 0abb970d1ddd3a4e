#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>

using namespace tempinbox;
using namespace std::chrono_literals;
using faults::stage;
using smtp::fault;
using testing::conversation;

namespace {

const std::string recipient_ok = "250 2.1.5 Recipient ok";
const std::string start_mail = "354 End data with <CR><LF>.<CR><LF>";
const std::string queued = "250 2.0.0 Ok: queued as id-1";

fault refusal(std::string reply, std::chrono::milliseconds delay = 0ms)
{
    fault made;
    made.reply = std::move(reply);
    made.delay = delay;
    return made;
}

fault delay(std::chrono::milliseconds time)
{
    fault made;
    made.delay = time;
    return made;
}

fault cut(bool keeps_message = false)
{
    fault made;
    made.is_cut = true;
    made.keeps_message = keeps_message;
    return made;
}

faults::stage_set only(stage at)
{
    faults::stage_set stages;
    stages.add(at);
    return stages;
}

// A client that may log in at once.
conversation submission()
{
    smtp::session_machine::client who;
    who.logins = smtp::login_policy::at_once;
    return conversation({}, who);
}

} // namespace

TEST_CASE("a fault at a recipient is for that one alone", "[smtp][faults]")
{
    conversation talk;
    talk.set_fault("box@in.test", refusal("451 4.7.1 Later"));
    talk.mail();

    CHECK(talk.say("RCPT TO:<box@in.test>") == "451 4.7.1 Later");
    CHECK(talk.session_machine().last_reply() == "451 4.7.1 Later");
    CHECK(talk.say("DATA") == "554 5.5.1 No valid recipients");
    CHECK(talk.say("RCPT TO:<other@in.test>") == recipient_ok);
    talk.say("DATA");
    CHECK(talk.raw("x\r\n.\r\n") == queued);
    CHECK(talk.envelopes().at(0).recipients.size() == 1);
}

TEST_CASE("a fault may wait, and then refuse or let pass", "[smtp][faults]")
{
    conversation talk;
    talk.set_fault("box@in.test", refusal("550 5.1.1 No", 3s));
    talk.set_fault("other@in.test", delay(2s));
    talk.mail();

    CHECK(talk.say("RCPT TO:<box@in.test>") == "[3000]550 5.1.1 No");
    CHECK(talk.say("RCPT TO:<other@in.test>") == "[2000]" + recipient_ok);
    CHECK(talk.raw("RCPT TO:<box@in.test>\r\nRCPT TO:<postmaster@in.test>\r\n") ==
          "[3000]550 5.1.1 No|" + recipient_ok);
}

TEST_CASE("421 says so and closes, a cut closes without a word", "[smtp][faults]")
{
    conversation talk;
    SECTION("421 at RCPT")
    {
        talk.set_fault("box@in.test", refusal("421 4.7.0 Slower", 1s));
        talk.mail();
        CHECK(talk.say("RCPT TO:<box@in.test>") == "[1000]421 4.7.0 Slower");
    }
    SECTION("a cut at RCPT, after what was said before")
    {
        talk.set_fault("box@in.test", cut());
        talk.mail();
        CHECK(talk.raw("RCPT TO:<other@in.test>\r\nRCPT TO:<box@in.test>\r\nNOOP\r\n") ==
              recipient_ok);
    }
    SECTION("421 at DATA")
    {
        talk.set_fault_stages("box@in.test", only(stage::data));
        talk.set_data_fault(refusal("421 4.3.0 Slower"));
        talk.rcpt();
        CHECK(talk.say("DATA") == "421 4.3.0 Slower");
    }
    SECTION("a cut at the end")
    {
        talk.set_message_fault(cut());
        talk.rcpt();
        talk.say("DATA");
        CHECK(talk.raw("x\r\n.\r\n") == "");
        const auto ended = talk.session_machine().take_ending();
        REQUIRE(ended);
        CHECK(ended->result == "fault");
        CHECK(ended->code == 0);
        CHECK_FALSE(ended->is_stored);
    }
    CHECK(talk.is_closed());
    CHECK(talk.stored().empty());
}

TEST_CASE("a fault at DATA comes before the message", "[smtp][faults]")
{
    conversation talk;
    talk.set_fault_stages("box@in.test", only(stage::data));
    talk.set_data_fault(refusal("452 4.3.1 Later"));
    talk.rcpt();

    CHECK(talk.say("DATA") == "452 4.3.1 Later");
    const auto ended = talk.session_machine().take_ending();
    REQUIRE(ended);
    CHECK(ended->result == "fault");
    CHECK(ended->code == 452);
    CHECK(ended->envelope.recipients.size() == 1);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");

    talk.set_data_fault(delay(60s));
    talk.say("RCPT TO:<box@in.test>");
    CHECK(talk.say("DATA") == "[60000]" + start_mail);
    CHECK(talk.raw("x\r\n.\r\n") == queued);
    CHECK(talk.data_faults_asked() == 2);
}

TEST_CASE("only inboxes that may play a fault are asked at DATA", "[smtp][faults]")
{
    conversation talk;
    talk.set_fault_stages("box@in.test", only(stage::end));
    talk.set_data_fault(refusal("452 4.3.1 Later"));
    talk.rcpt();

    CHECK(talk.say("DATA") == start_mail);
    CHECK(talk.data_faults_asked() == 0);
}

TEST_CASE("a fault at the first chunk is replied behind its octets", "[smtp][faults]")
{
    conversation talk;
    talk.set_fault_stages("box@in.test", only(stage::data));
    SECTION("refused")
    {
        talk.set_data_fault(refusal("452 4.3.1 Later", 1s));
        talk.rcpt();
        CHECK(talk.raw("BDAT 6\r\nab") == "");
        CHECK(talk.raw("cd\r\nNOOP\r\n") == "[1000]452 4.3.1 Later|250 2.0.0 Ok");
        CHECK(talk.stored().empty());
        CHECK(talk.say("MAIL FROM:<a@b.test>") == "250 2.1.0 Sender ok");
    }
    SECTION("refused, and too large to be read")
    {
        talk.set_data_fault(refusal("452 4.3.1 Later"));
        talk.rcpt();
        CHECK(talk.raw("BDAT 9000000000000000\r\nab") == "452 4.3.1 Later");
        CHECK(talk.is_closed());
    }
    SECTION("closed")
    {
        talk.set_data_fault(cut());
        talk.rcpt();
        CHECK(talk.raw("BDAT 4 LAST\r\nab\r\nNOOP\r\n") == "");
        CHECK(talk.is_closed());
    }
    SECTION("late")
    {
        talk.set_data_fault(delay(5s));
        talk.rcpt();
        CHECK(talk.raw("BDAT 4\r\nab\r\n") == "[5000]250 2.0.0 Chunk ok");
        CHECK(talk.raw("BDAT 4 LAST\r\ncd\r\n") == queued);
        CHECK(talk.stored().at(0) == "ab\r\ncd\r\n");
        CHECK(talk.data_faults_asked() == 1);
    }
    CHECK_FALSE(talk.is_in_message());
}

TEST_CASE("a fault at the end replaces the reply, and nothing is held while it waits",
          "[smtp][faults]")
{
    conversation talk;
    talk.rcpt();
    talk.say("DATA");
    SECTION("refused")
    {
        talk.set_message_fault(refusal("451 4.3.0 Later", 300s));
        CHECK(talk.raw("x\r\n.\r\n") == "[300000]451 4.3.0 Later");
        CHECK(talk.stored().empty());
        CHECK(talk.is_acknowledged());
    }
    SECTION("late")
    {
        talk.set_message_fault(delay(300s));
        CHECK(talk.raw("x\r\n.\r\n") == "[300000]" + queued);
        CHECK_FALSE(talk.is_acknowledged());
        CHECK(talk.session_machine().take_ending()->is_stored);
    }
    SECTION("stored, and then cut")
    {
        talk.set_message_fault(cut(true));
        CHECK(talk.raw("x\r\n.\r\n") == "");
        CHECK(talk.is_closed());
        CHECK(talk.stored().size() == 1);
        CHECK_FALSE(talk.is_acknowledged());
        const auto ended = talk.session_machine().take_ending();
        REQUIRE(ended);
        CHECK(ended->result == "fault");
        CHECK(ended->is_stored);
    }
    CHECK_FALSE(talk.is_holding_in_delay());
}

TEST_CASE("a session is not idle while a fault lets it wait", "[smtp][faults]")
{
    conversation talk;
    talk.set_fault("box@in.test", delay(300s));
    talk.set_fault_stages("box@in.test", only(stage::data));
    talk.set_data_fault(delay(300s));
    talk.let_delays_take_time();
    talk.mail();

    CHECK(talk.say("RCPT TO:<box@in.test>") == "[300000]" + recipient_ok);
    CHECK(talk.pass(250s) == "");
    CHECK(talk.say("DATA") == "[300000]" + start_mail);
    CHECK(talk.pass(1s) == "");
    CHECK(talk.raw("x\r\n.\r\n") == queued);
}

TEST_CASE("an inbox's fault at AUTH leaves nobody logged in", "[smtp][faults][logins]")
{
    auto talk = submission();
    smtp::login_result result(smtp::login_status::good);
    result.fault = refusal("454 4.7.0 Later");
    talk.set_login_result(result);

    talk.hello();
    CHECK(talk.say("AUTH PLAIN " + to_base64(std::string("\0cap_own\0tic_good", 17))) ==
          "454 4.7.0 Later");
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "530 5.7.0 Authentication required");

    result.fault = delay(4s);
    talk.set_login_result(result);
    CHECK(talk.say("AUTH PLAIN " + to_base64(std::string("\0cap_own\0tic_good", 17))) ==
          "[4000]235 2.7.0 Authentication successful");
}

TEST_CASE("a login's inbox may play a fault at MAIL and at its recipients",
          "[smtp][faults][logins]")
{
    auto talk = submission();
    talk.log_in();
    smtp::admission_result admission{
        smtp::admission_status::admitted, 10 * 1024 * 1024, only(stage::rcpt), {}};
    admission.fault = refusal("450 4.2.1 Slower");
    talk.set_admission(admission);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "450 4.2.1 Slower");
    CHECK(talk.say("RCPT TO:<x@y.test>") == "503 5.5.1 Send MAIL first");

    admission.fault = delay(2s);
    talk.set_admission(admission);
    CHECK(talk.say("MAIL FROM:<a@b.test>") == "[2000]250 2.1.0 Sender ok");
    CHECK(talk.say("RCPT TO:<x@y.test>") == recipient_ok);
    CHECK(talk.look_ups() == 1);
    talk.set_login_fault(refusal("421 4.7.0 Enough"));
    CHECK(talk.say("RCPT TO:<z@y.test>") == "421 4.7.0 Enough");
    CHECK(talk.is_closed());
}
