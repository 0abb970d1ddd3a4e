#include "inbox/senders/sender_report.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tempinbox;
using namespace std::chrono_literals;
using mailbox::session_end;
using mailbox::stored_attempt;
using mailbox::v1::Attempt;

namespace {

constexpr time_point start{1'700'000'000s};
const std::string later = "451 4.7.1 Try again later";
const std::string ok = "250 2.0.0 Ok: queued as 1";

struct rcpt
{
    std::string address;
    std::string reply = "250 2.1.5 Recipient ok";
};

int code_of(const std::string& reply)
{
    return reply.empty() ? 0 : std::stoi(reply.substr(0, 3));
}

// What one sender does.
class sender_story
{
public:
    // Changes what its attempts look like.
    sender_story& looks(std::function<void(Attempt&)> as)
    {
        looks_ = std::move(as);
        return *this;
    }
    sender_story& after(std::chrono::milliseconds time)
    {
        at_ += time;
        return *this;
    }
    // RCPT alone: all were refused, or it gave up.
    sender_story& recipients(const std::vector<rcpt>& given, const std::string& from = "a@app.test")
    {
        auto& one = add("rcpt", from);
        for (const auto& each : given)
            put(one, each);
        for (const auto& each : given)
            if (code_of(each.reply) / 100 != 2) {
                one.set_reply(each.reply);
                one.set_code(code_of(each.reply));
            }
        return *this;
    }
    sender_story& message(const std::string& id, const std::string& reply,
                          const std::vector<rcpt>& given = {{"bob@x.test"}},
                          const std::string& email = "", const std::string& from = "a@app.test")
    {
        auto& one = add("end", from);
        one.set_reply(reply);
        one.set_code(code_of(reply));
        one.set_has_message(true);
        one.set_message_id(id);
        one.set_content(content_);
        one.set_email_id(email);
        for (const auto& each : given)
            put(one, each);
        return *this;
    }
    sender_story& at(const std::string& stage, const std::string& reply)
    {
        auto& one = add(stage, stage == "auth" ? "" : "a@app.test");
        one.set_reply(reply);
        one.set_code(code_of(reply));
        return *this;
    }
    sender_story& content(std::uint64_t other)
    {
        content_ = other;
        return *this;
    }
    sender_story& session(session_end how)
    {
        attempts_.back().end = how;
        return *this;
    }

    inbox::v1::SenderReport report(std::chrono::seconds after = 30s) const
    {
        return inbox::make_sender_report(attempts_, at_ + after);
    }

private:
    Attempt& add(const std::string& stage, const std::string& from)
    {
        auto& one = attempts_.emplace_back();
        one.id = uuid::make_v7();
        one.at = at_;
        one.what.set_stage(stage);
        one.what.set_mail_from(from);
        one.what.set_login("cap_1");
        one.what.set_remote_address("192.0.2.1");
        if (looks_)
            looks_(one.what);
        return one.what;
    }
    static void put(Attempt& one, const rcpt& given)
    {
        auto& recipient = *one.add_recipients();
        recipient.set_address(given.address);
        recipient.set_digest(std::hash<std::string>()(given.address));
        const bool is_refused = code_of(given.reply) / 100 != 2;
        recipient.set_is_refused(is_refused);
        recipient.set_code(is_refused || one.stage() == "rcpt" ? code_of(given.reply) : one.code());
        if (is_refused)
            recipient.set_reply(given.reply);
    }

    std::function<void(Attempt&)> looks_;
    time_point at_ = start;
    std::uint64_t content_ = 1;
    std::vector<stored_attempt> attempts_;
};

void as_postfix(Attempt& one)
{
    one.set_is_pipelined(true);
    one.set_has_size(true);
    one.set_is_relayed(one.stage() == "end");
    one.set_tls("TLSv1.3");
}

void as_exim(Attempt& one)
{
    as_postfix(one);
    one.set_is_chunked(one.stage() == "end");
}

void as_nodemailer(Attempt& one)
{
    one.set_is_pipelined(true);
}

inbox::v1::SenderMark mark(const inbox::v1::SenderReport& report, const std::string& name)
{
    for (const auto& each : report.marks())
        if (each.name() == name)
            return each;
    throw std::logic_error("no mark " + name);
}

// "yes 1 2".
std::string shown(const inbox::v1::SenderReport& report, const std::string& name)
{
    const auto found = mark(report, name);
    auto text = found.value();
    for (const auto number : found.attempts())
        text += " " + std::to_string(number);
    return text;
}

} // namespace

TEST_CASE("Postfix that is deferred twice at RCPT tries again, backs off and is one message",
          "[inbox][senders]")
{
    const auto report = sender_story()
                            .looks(as_postfix)
                            .recipients({{"bob@x.test", later}})
                            .session(session_end::quit)
                            .after(1'400ms)
                            .recipients({{"bob@x.test", later}})
                            .session(session_end::quit)
                            .after(2'100ms)
                            .message("<1@app.test>", ok, {{"bob@x.test"}}, "e1")
                            .session(session_end::quit)
                            .report();

    REQUIRE(report.messages_size() == 1);
    const auto& message = report.messages(0);
    CHECK(message.message_id() == "<1@app.test>");
    CHECK(message.attempts_size() == 3);
    CHECK(message.state() == "accepted");
    CHECK_FALSE(message.is_ambiguous());
    CHECK(message.email_ids_size() == 1);
    CHECK(shown(report, "retriesAfter4xx") == "yes 1 2 3");
    CHECK(shown(report, "backsOff") == "yes 2 3");
    CHECK(mark(report, "backsOff").note() ==
          "The shortest pause was 1 s; mail servers should wait 30 minutes in general");
    CHECK(shown(report, "stopsAfter5xx") == "not_seen");
    CHECK(shown(report, "sameMessageId") == "not_seen");
    CHECK(shown(report, "duplicates") == "no 3");
    CHECK(mark(report, "duplicates").count() == 0);
    CHECK(shown(report, "tls") == "yes 1 2 3");
    CHECK(shown(report, "pipelining") == "yes 1 2 3");
    CHECK(shown(report, "quit") == "yes 1 2 3");
    CHECK(shown(report, "size") == "yes 1 2 3");
    for (const auto& each : report.marks())
        CHECK(each.section().starts_with("RFC "));
}

TEST_CASE("a mail server that has not tried again yet is not marked for two hours",
          "[inbox][senders]")
{
    auto sender = sender_story();
    sender.looks(as_postfix).recipients({{"bob@x.test", later}});

    CHECK(shown(sender.report(1h), "retriesAfter4xx") == "not_seen");
    CHECK(shown(sender.report(2h), "retriesAfter4xx") == "no 1");
    CHECK(mark(sender.report(2h), "retriesAfter4xx").note() ==
          "Nothing came again for 7200 s; the mark changes when it does");
    sender.after(3h).recipients({{"bob@x.test", later}});
    CHECK(shown(sender.report(0s), "retriesAfter4xx") == "yes 1 2");
    CHECK(sender.report().messages(0).state() == "open");
}

TEST_CASE("Exim that sends a message again after its end with the same Message-ID",
          "[inbox][senders]")
{
    const auto report = sender_story()
                            .looks(as_exim)
                            .message("<1@app.test>", "452 4.3.1 Full")
                            .after(5min)
                            .message("<1@app.test>", ok, {{"bob@x.test"}}, "e1")
                            .report();

    CHECK(report.messages_size() == 1);
    CHECK(shown(report, "retriesAfter4xx") == "yes 1 2");
    CHECK(shown(report, "backsOff") == "yes 2");
    CHECK(mark(report, "backsOff").note().empty());
    CHECK(shown(report, "sameMessageId") == "yes 1 2");
    CHECK(report.messages(0).attempts(1).is_chunked());
}

TEST_CASE("a lost 250 that comes again is no duplicate if it is answered with the first email",
          "[inbox][senders]")
{
    const auto sender = [](const std::string& second) {
        return sender_story()
            .looks(as_postfix)
            .message("<1@app.test>", "", {{"bob@x.test"}}, "e1")
            .after(2s)
            .message("<1@app.test>", ok, {{"bob@x.test"}}, second)
            .report();
    };

    CHECK(shown(sender("e1"), "duplicates") == "no 1 2");
    CHECK(shown(sender("e1"), "retriesAfter4xx") == "yes 1 2");
    CHECK(shown(sender("e1"), "backsOff") == "not_seen"); // it may come again at once
    CHECK(sender("e1").messages(0).email_ids_size() == 1);
    CHECK(shown(sender("e2"), "duplicates") == "yes 2");
    CHECK(mark(sender("e2"), "duplicates").count() == 1);
    CHECK(sender("e2").messages(0).email_ids_size() == 2);
}

TEST_CASE("one message to several recipients by themselves is no duplicate", "[inbox][senders]")
{
    const auto report = sender_story()
                            .message("<1@app.test>", ok, {{"ann@x.test"}}, "e1")
                            .message("<1@app.test>", ok, {{"bob@x.test"}}, "e2")
                            .report();

    CHECK(report.messages_size() == 1);
    CHECK(mark(report, "duplicates").count() == 0);
}

TEST_CASE("Nodemailer that is cut off does not try again", "[inbox][senders]")
{
    auto sender = sender_story();
    sender.looks(as_nodemailer).message("<1@app.test>", "").session(session_end::closed);
    // Another mail of it, by a pool.
    sender.after(1s).content(2).message("<2@app.test>", "").session(session_end::closed);

    CHECK(shown(sender.report(5s), "retriesAfter4xx") == "not_seen");
    const auto report = sender.report(10s);
    REQUIRE(report.messages_size() == 2);
    for (const auto& message : report.messages()) {
        CHECK(message.attempts_size() == 1);
        CHECK(message.state() == "open");
        CHECK(message.email_ids_size() == 0);
    }
    CHECK(shown(report, "retriesAfter4xx") == "no 1 2");
    CHECK(shown(report, "backsOff") == "not_seen");
    CHECK(shown(report, "sameMessageId") == "not_seen");
    CHECK(shown(report, "tls") == "no 1 2");
    CHECK(shown(report, "quit") == "not_seen");
}

TEST_CASE("Nodemailer keeps the other recipient, and does not come back for the one deferred",
          "[inbox][senders]")
{
    const auto report =
        sender_story()
            .looks(as_nodemailer)
            .message("<1@app.test>", ok, {{"ann@x.test", later}, {"bob@x.test"}}, "e1")
            .session(session_end::quit)
            .report();

    REQUIRE(report.messages_size() == 1);
    const auto& attempt = report.messages(0).attempts(0);
    CHECK(attempt.stage() == "end");
    REQUIRE(attempt.refused_size() == 1);
    CHECK(attempt.refused(0).recipient() == "ann@x.test");
    CHECK(attempt.refused(0).reply() == later);
    CHECK(report.messages(0).state() == "open");
    CHECK(report.messages(0).recipient_count() == 2);
    CHECK(shown(report, "keepsOtherRecipients") == "yes 1");
    CHECK(shown(report, "retriesAfter4xx") == "no 1");
}

TEST_CASE("Postfix comes back for the recipient that was deferred alone", "[inbox][senders]")
{
    const auto report =
        sender_story()
            .looks(as_postfix)
            .message("<1@app.test>", ok, {{"ann@x.test", later}, {"bob@x.test"}}, "e1")
            .after(300s)
            .message("<1@app.test>", ok, {{"ann@x.test"}}, "e2")
            .report();

    CHECK(report.messages_size() == 1);
    CHECK(report.messages(0).state() == "accepted");
    CHECK(shown(report, "retriesAfter4xx") == "yes 1 2");
    CHECK(mark(report, "duplicates").count() == 0);
}

TEST_CASE("a sender that gives all up for one refused recipient does not keep the others",
          "[inbox][senders]")
{
    const auto report = sender_story()
                            .recipients({{"ann@x.test"}, {"bob@x.test", "550 5.1.1 No such user"}})
                            .report();

    CHECK(shown(report, "keepsOtherRecipients") == "no 1");
    CHECK(shown(report, "stopsAfter5xx") == "yes 1");
}

TEST_CASE("smtplib gives up after a 5xx; whoever comes again is marked", "[inbox][senders]")
{
    auto sender = sender_story();
    sender.recipients({{"bob@x.test", "550 5.1.1 No such user"}}).session(session_end::quit);

    CHECK(shown(sender.report(5s), "stopsAfter5xx") == "not_seen");
    CHECK(shown(sender.report(10s), "stopsAfter5xx") == "yes 1");
    CHECK(sender.report().messages(0).state() == "refused");

    sender.after(5s).recipients({{"bob@x.test", "550 5.1.1 No such user"}});
    const auto report = sender.report();
    CHECK(report.messages_size() == 1);
    CHECK(report.messages(0).is_ambiguous());
    CHECK(shown(report, "stopsAfter5xx") == "no 1 2");
}

TEST_CASE("a message that is sent after another was refused is another one", "[inbox][senders]")
{
    const auto report = sender_story()
                            .recipients({{"bob@x.test", "550 5.1.1 No such user"}})
                            .after(5s)
                            .message("<1@app.test>", ok, {{"bob@x.test"}}, "e1")
                            .report();

    CHECK(report.messages_size() == 2);
    CHECK(shown(report, "stopsAfter5xx") == "yes 1");
}

TEST_CASE("the same content with another Message-ID is marked, and is another message",
          "[inbox][senders]")
{
    const auto report = sender_story()
                            .message("<1@app.test>", "451 4.3.0 Later")
                            .after(2s)
                            .message("<2@app.test>", ok, {{"bob@x.test"}}, "e1")
                            .report();

    CHECK(report.messages_size() == 2);
    CHECK(shown(report, "sameMessageId") == "no 1 2");
}

TEST_CASE("the same content for somebody else is no repeat", "[inbox][senders]")
{
    const auto report = sender_story()
                            .message("<1@app.test>", "451 4.3.0 Later")
                            .after(2s)
                            .message("<2@app.test>", ok, {{"ann@x.test"}}, "e1")
                            .report();

    CHECK(shown(report, "sameMessageId") == "not_seen");
}

TEST_CASE("a message without Message-ID comes again by its content", "[inbox][senders]")
{
    auto sender = sender_story();
    sender.message("", "451 4.3.0 Later").after(2s).message("", ok, {{"bob@x.test"}}, "e1");
    CHECK(sender.report().messages_size() == 1);

    sender.content(7).message("", "451 4.3.0 Later").content(8).message("", ok);
    CHECK(sender.report().messages_size() == 3);
}

TEST_CASE("a retry at once does not back off, nor do ever shorter pauses", "[inbox][senders]")
{
    const auto sender = [](const std::vector<std::chrono::milliseconds>& pauses) {
        auto one = sender_story().looks(as_postfix).message("<1@app.test>", "451 4.3.0 Later");
        for (const auto pause : pauses)
            one.after(pause).message("<1@app.test>", "451 4.3.0 Later");
        return shown(one.report(), "backsOff");
    };

    CHECK(sender({100ms}) == "no 2");
    CHECK(sender({1s, 1s, 1s}) == "yes 2 3 4");
    CHECK(sender({300s, 300s, 100s}) == "no 4");
    CHECK(sender({300s, 600s, 1'200s}) == "yes 2 3 4");
}

TEST_CASE("the shortest pause is said in tenths if it is below a second", "[inbox][senders]")
{
    const std::vector<std::pair<std::chrono::milliseconds, std::string>> pauses{
        {50ms, "less than 0.1 s"}, {560ms, "0.5 s"}, {999ms, "0.9 s"}, {1'400ms, "1 s"}};
    for (const auto& [pause, said] : pauses) {
        const auto report = sender_story()
                                .recipients({{"bob@x.test", later}})
                                .after(pause)
                                .message("<1@app.test>", ok)
                                .report();
        CHECK(mark(report, "backsOff").note() ==
              "The shortest pause was " + said +
                  "; mail servers should wait 30 minutes in general");
    }
}

TEST_CASE("attempts before a recipient is known belong to what is open", "[inbox][senders]")
{
    const auto report = sender_story()
                            .at("auth", "454 4.7.0 Not now")
                            .after(2s)
                            .at("mail", "421 4.7.0 Slower")
                            .after(2s)
                            .message("<1@app.test>", ok, {{"bob@x.test"}}, "e1")
                            .report();

    REQUIRE(report.messages_size() == 1);
    CHECK(report.messages(0).mail_from() == "a@app.test");
    CHECK(shown(report, "retriesAfter4xx") == "yes 1 2 3");
}

TEST_CASE("two open messages of like sender and recipient are marked as ambiguous",
          "[inbox][senders]")
{
    const auto report = sender_story()
                            .message("<1@app.test>", "451 4.3.0 Later")
                            .content(2)
                            .message("<2@app.test>", "451 4.3.0 Later")
                            .after(1s)
                            .recipients({{"bob@x.test", later}})
                            .report();

    REQUIRE(report.messages_size() == 2);
    CHECK(report.messages(0).attempts_size() == 2); // which waits for longer
    CHECK(report.messages(0).is_ambiguous());
    CHECK_FALSE(report.messages(1).is_ambiguous());
}

TEST_CASE("other senders, recipients and addresses are other messages", "[inbox][senders]")
{
    const auto report = sender_story()
                            .recipients({{"bob@x.test", later}})
                            .recipients({{"cy@x.test", later}})
                            .recipients({{"bob@x.test", later}}, "other@app.test")
                            .looks([](Attempt& one) {
                                one.set_login("");
                                one.set_remote_address("192.0.2.9");
                            })
                            .recipients({{"bob@x.test", later}})
                            .report();

    CHECK(report.messages_size() == 4);
    CHECK(shown(report, "retriesAfter4xx") == "no 1 2 3 4");
}

TEST_CASE("faults that were not applied are listed with their attempts", "[inbox][senders]")
{
    const auto report = sender_story()
                            .looks([](Attempt& one) {
                                auto& unplayed = *one.add_unplayed();
                                unplayed.set_stage("end");
                                unplayed.set_reason("sharedTransaction");
                            })
                            .message("<1@app.test>", ok, {{"bob@x.test"}}, "e1")
                            .report();

    REQUIRE(report.not_applied_size() == 1);
    CHECK(report.not_applied(0).attempt() == 1);
    CHECK(report.not_applied(0).stage() == "end");
    CHECK(report.not_applied(0).reason() == "sharedTransaction");
}

TEST_CASE("a report without attempts has all marks, none seen", "[inbox][senders]")
{
    const auto report = inbox::make_sender_report({}, start);

    CHECK(report.messages().empty());
    CHECK(report.marks_size() == 10);
    for (const auto& each : report.marks())
        CHECK(each.value() == "not_seen");
}

TEST_CASE("a thousand attempts to a hundred recipients each are marked in no time",
          "[inbox][senders]")
{
    std::vector<rcpt> many;
    for (int i = 0; i < 100; ++i)
        many.push_back({std::to_string(i) + "@x.test", later});
    auto sender = sender_story();
    for (int i = 0; i < 1'000; ++i)
        sender.recipients(many, std::to_string(i) + "@app.test");

    const auto report = sender.report();

    CHECK(report.messages_size() == 1'000);
    CHECK(mark(report, "retriesAfter4xx").attempts_size() == 100);
}

TEST_CASE("a message to a hundred thousand recipients is one", "[inbox][senders]")
{
    auto sender = sender_story();
    for (int i = 0; i < 1'000; ++i) {
        std::vector<rcpt> others;
        for (int j = 0; j < 100; ++j)
            others.push_back({std::to_string(100 * i + j) + "@x.test", later});
        sender.message("<1@app.test>", "451 4.3.0 Later", others);
    }

    const auto report = sender.report();

    REQUIRE(report.messages_size() == 1);
    CHECK(report.messages(0).recipient_count() == 100'000);
}
