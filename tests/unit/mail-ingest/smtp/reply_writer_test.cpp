#include "mail-ingest/smtp/reply_writer.hpp"

#include "unit/mail-ingest/smtp/conversation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using testing::conversation;

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

TEST_CASE("an error too many says that the session closes", "[smtp]")
{
    smtp::limits bounds;
    bounds.errors_before_delay = 2;
    bounds.errors_before_close = 3;
    smtp::reply_writer replies(bounds);

    CHECK(replies.say_error("500 x"));
    CHECK(replies.output() == "500 x\r\n");
    CHECK(replies.say_error("501 y"));
    CHECK(replies.output() == "500 x\r\n");
    CHECK(replies.take_wait() == bounds.error_delay);
    replies.say_delayed();
    CHECK(replies.output() == "500 x\r\n501 y\r\n");
    replies.clear_output();
    CHECK_FALSE(replies.say_error("502 z"));
    CHECK(replies.output() == "421 4.7.0 Too many errors\r\n");
}

TEST_CASE("a reply is delayed once, and the ones before it are not", "[smtp]")
{
    const smtp::limits bounds;
    smtp::reply_writer replies(bounds);
    replies.say("250 first");
    const auto size = replies.output().size();
    replies.say("550 second");

    replies.delay_since(size, std::chrono::seconds(2));

    CHECK(replies.output() == "250 first\r\n");
    CHECK(replies.has_delayed());
    CHECK(replies.take_wait() == std::chrono::seconds(2));
    CHECK(replies.take_wait() == std::chrono::seconds(0));
    replies.say_delayed();
    replies.say_delayed();
    CHECK(replies.output() == "250 first\r\n550 second\r\n");
    CHECK_FALSE(replies.has_delayed());
}

TEST_CASE("the last reply is known, also while it is delayed", "[smtp]")
{
    const smtp::limits bounds;
    smtp::reply_writer replies(bounds);

    replies.say("250 x");
    replies.say("450 y");
    CHECK(replies.last() == "450 y");
    replies.delay_since(7, bounds.error_delay);
    CHECK(replies.last() == "450 y");
    replies.reply_later(bounds.error_delay, "550 z");
    CHECK(replies.last() == "550 z");
}
