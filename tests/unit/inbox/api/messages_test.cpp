#include "inbox/api/messages.hpp"

#include <catch2/catch.hpp>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <set>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::inbox;

TEST_CASE("what is absent of an inbox is absent in its message", "[inbox]")
{
    mailbox::inbox bare;
    bare.id = inbox_id::make();
    bare.created_at = from_unix_micros(1'795'305'600'123'000);

    const auto message = to_message(bare, mailbox::inbox_bounds());

    CHECK(message.inbox_id() == bare.id.text());
    CHECK_FALSE(message.has_name());
    CHECK_FALSE(message.has_last_email_at());
    CHECK_FALSE(message.has_expired_at());
    CHECK(message.status() == v1::INBOX_STATUS_ACTIVE);
    CHECK(message.created_at().seconds() == 1'795'305'600);
    CHECK(message.created_at().nanos() == 123'000'000);
}

TEST_CASE("an inbox is full from the last email or byte it holds on, unless it has ended",
          "[inbox]")
{
    mailbox::inbox held;
    held.id = inbox_id::make();
    held.email_count = 2;
    held.email_bytes = 100;
    const auto is_full = [&held](std::int64_t emails, std::int64_t bytes) {
        mailbox::inbox_bounds bounds;
        bounds.emails = emails;
        bounds.bytes = bytes;
        return to_message(held, bounds).is_full();
    };

    CHECK(is_full(2, 0));
    CHECK(is_full(3, 100));
    CHECK_FALSE(is_full(3, 101));
    CHECK_FALSE(is_full(0, 0));
    held.is_live = false;
    CHECK_FALSE(is_full(2, 100));
}

TEST_CASE("an email's message has what its row and its view say", "[inbox]")
{
    mailbox::stored_email email;
    email.summary.id = email_id::make();
    email.summary.rcpt_to = {"ann+tag@mail.test"};
    email.summary.codes = {{"123456", 0.9, "text", 3}};
    email.mail_from = "bounce@example.org";
    email.defects = {"bare_newline"};
    mime::view view;
    email.addresses = mailbox::header_addresses{
        {{"Ann", "ann@mail.test"}}, {{"Bob", "bob@example.org"}}, {{"", "reply@example.org"}}};
    email.summary.to = email.addresses->to;
    view.text = "hello";
    view.headers = {{"Subject", "hi"}};
    mime::attachment part;
    part.id = "2.1";
    part.content_id = "logo";
    part.is_inline = true;
    part.size = 17;
    part.sha256 = "2cf24d";
    view.attachments = {part};

    const auto message = to_message(email, view);

    CHECK(message.summary().email_id() == email.summary.id.text());
    CHECK(message.summary().codes(0).value() == "123456");
    CHECK(message.summary().recipients(0) == "ann+tag@mail.test");
    REQUIRE(message.summary().to_size() == 1);
    CHECK(message.summary().to(0).name() == "Ann");
    CHECK(message.summary().to(0).address() == "ann@mail.test");
    CHECK(message.envelope().mail_from() == "bounce@example.org");
    CHECK_FALSE(message.envelope().has_tls());
    CHECK(message.cc(0).name() == "Bob");
    CHECK(message.cc(0).address() == "bob@example.org");
    CHECK(message.reply_to(0).address() == "reply@example.org");
    CHECK(message.text() == "hello");
    CHECK_FALSE(message.has_html());
    CHECK_FALSE(message.has_date());
    CHECK(message.headers(0).value() == "hi");
    REQUIRE(message.attachments_size() == 1);
    CHECK(message.attachments(0).attachment_id() == "2.1");
    CHECK(message.attachments(0).inline_());
    CHECK(message.attachments(0).sha256() == "2cf24d");
    CHECK(message.defects(0) == "bare_newline");
}

TEST_CASE("a message that an earlier release stored says itself whom its header names", "[inbox]")
{
    mailbox::stored_email email;
    email.summary.to = {{"", "ann@mail.test"}};
    mime::view view;
    view.to = {{"Ann", "ann@mail.test"}};
    view.cc.assign(200, {"Bob", "bob@example.org"});

    const auto message = to_message(email, view);

    REQUIRE(message.summary().to_size() == 1);
    CHECK(message.summary().to(0).name() == "Ann");
    CHECK(message.cc_size() == 100);
    CHECK(message.reply_to_size() == 0);
}

TEST_CASE("every field of a summary is in its message, and every field there one of a summary",
          "[inbox]")
{
    std::set<std::string> described, in_message;
    mailbox::for_each_summary_field([&](const auto& field) { described.insert(field.name); });
    const auto& fields = *v1::EmailSummary::descriptor();
    for (int index = 0; index < fields.field_count(); ++index)
        in_message.insert(fields.field(index)->name());

    // The text is read out of the body, and links for the emails of a page, where asked for.
    CHECK(in_message.erase("text") == 1);
    CHECK(in_message.erase("links") == 1);
    CHECK(described == in_message);
}

TEST_CASE("a summary's message says what the row said", "[inbox]")
{
    mailbox::email_summary email;
    email.id = email_id::make();
    email.inbox = inbox_id::make();
    email.sequence = 7;
    email.from = "robot@sender.example";
    email.from_name = "Robot";
    email.to = {{"List", "list@x.test"}};
    email.rcpt_to = {"a@x.test", "b@x.test"};
    email.subject = "Hi";
    email.preview = "Hello";
    email.received_at = from_unix_micros(1'795'305'600'123'000);
    email.size = 5'000'000'000;
    email.attachment_count = 2;
    email.is_read = true;
    email.codes.push_back({"482913", 0.95, "text", 13});

    const auto message = to_message(email);

    CHECK(message.email_id() == email.id.text());
    CHECK(message.inbox_id() == email.inbox.text());
    CHECK(message.sequence() == 7);
    CHECK(message.from() == "robot@sender.example");
    CHECK(message.from_name() == "Robot");
    REQUIRE(message.to_size() == 1);
    CHECK(message.to(0).name() == "List");
    CHECK(message.to(0).address() == "list@x.test");
    const auto& recipients = message.recipients();
    CHECK(std::vector<std::string>(recipients.begin(), recipients.end()) == email.rcpt_to);
    CHECK(message.subject() == "Hi");
    CHECK(message.preview() == "Hello");
    CHECK(message.received_at().seconds() == 1'795'305'600);
    CHECK(message.received_at().nanos() == 123'000'000);
    CHECK(message.size_bytes() == 5'000'000'000);
    CHECK(message.attachment_count() == 2);
    CHECK(message.is_read());
    REQUIRE(message.codes_size() == 1);
    CHECK(message.codes(0).value() == "482913");
    CHECK(message.codes(0).score() == 0.95);
    CHECK(message.codes(0).part() == "text");
    CHECK(message.codes(0).offset() == 13);
    // None is left out: all but text and links, which are read for the emails of a page, are set.
    std::vector<const google::protobuf::FieldDescriptor*> set;
    message.GetReflection()->ListFields(message, &set);
    CHECK(set.size() + 2 == static_cast<std::size_t>(message.GetDescriptor()->field_count()));
}
