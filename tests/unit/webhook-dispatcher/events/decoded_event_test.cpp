#include "webhook-dispatcher/events/decoded_event.hpp"

#include "common/rpc/timestamp.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

namespace {

constexpr const char* email = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";
constexpr const char* inbox = "01934f2e-0000-7000-8000-000000000001";
constexpr const char* account = "01934f2e-0000-7000-8000-0000000000aa";
const time_point moment = *parse_iso8601("2026-11-21T10:00:00.123Z");

kafka::record to_record(const outbox::row& row)
{
    kafka::record record;
    record.topic = row.message.topic;
    record.key = row.message.key;
    record.value = row.message.value;
    record.headers = row.message.headers;
    return record;
}

kafka::record received(const std::string& from = "a@example.com",
                       const std::string& subject = "Hello")
{
    events::v1::EmailReceived message;
    message.set_email_id(email);
    message.set_inbox_id(inbox);
    message.set_account_id(account);
    message.set_from(from);
    message.set_subject(subject);
    message.add_to("box+tag@example.org");
    *message.mutable_received_at() = rpc::to_timestamp(moment);
    return to_record(events::make_row(message, trace::traceparent::make()));
}

void replace_header(kafka::record& record, std::string_view name, const std::string& value)
{
    for (auto& header : record.headers)
        if (header.first == name)
            header.second = value;
}

std::string error_of(const kafka::record& record)
{
    const auto event = decode(record);
    return event ? "decoded" : event.error().message;
}

} // namespace

TEST_CASE("the payload of email.received is exactly the documented one", "[webhooks][payload]")
{
    const auto event = decode(received()).value();

    CHECK(
        make_payload(event) ==
        R"({"event":"email.received","timestamp":"2026-11-21T10:00:00.123Z","data":{)"
        R"("emailId":"01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f","inboxId":"01934f2e-0000-7000-8000-000000000001",)"
        R"("from":"a@example.com","subject":"Hello"}})");
}

TEST_CASE("quotes, control characters and other scripts survive in the payload",
          "[webhooks][payload]")
{
    const auto event = decode(received("", "Say \"hi\"\n\\ \xc3\xa9")).value();

    CHECK(make_payload(event).find(R"("from":"","subject":"Say \"hi\"\n\\ é"}})") !=
          std::string::npos);
}

TEST_CASE("the payloads of inbox events name the address and its times", "[webhooks][payload]")
{
    events::v1::InboxCreated created;
    created.set_inbox_id(inbox);
    created.set_account_id(account);
    created.set_email_address("box@example.org");
    *created.mutable_created_at() = rpc::to_timestamp(moment);
    *created.mutable_expires_at() = rpc::to_timestamp(moment + std::chrono::hours(1));
    events::v1::InboxExpired expired;
    expired.set_inbox_id(inbox);
    expired.set_account_id(account);
    expired.set_email_address("box@example.org");
    *expired.mutable_expired_at() = rpc::to_timestamp(moment);
    expired.set_reason(events::v1::EXPIRY_REASON_DELETED);
    const auto parent = trace::traceparent::make();

    CHECK(
        make_payload(
            decode(to_record(events::make_row(created, event_id::make(), parent))).value()) ==
        R"({"event":"inbox.created","timestamp":"2026-11-21T10:00:00.123Z","data":{"inboxId":"01934f2e-0000-7000-8000-000000000001",)"
        R"("emailAddress":"box@example.org","createdAt":"2026-11-21T10:00:00.123Z","expiresAt":"2026-11-21T11:00:00.123Z"}})");
    CHECK(
        make_payload(
            decode(to_record(events::make_row(expired, event_id::make(), parent))).value()) ==
        R"({"event":"inbox.expired","timestamp":"2026-11-21T10:00:00.123Z","data":{"inboxId":"01934f2e-0000-7000-8000-000000000001",)"
        R"("emailAddress":"box@example.org","expiredAt":"2026-11-21T10:00:00.123Z","reason":"deleted"}})");
}

TEST_CASE("an event keeps the identity, account and trace it came with", "[webhooks][events]")
{
    const auto record = received();
    const auto event = decode(record).value();

    CHECK(event.id.text() == email);
    CHECK(event.account.text() == account);
    CHECK(event.kind == event_kind::email_received);
    CHECK(event.occurred_at == moment);
    CHECK(event.traceparent == record.header("traceparent"));
}

TEST_CASE("rules see the recipients as given", "[webhooks][events]")
{
    const auto mail = mail_of(decode(received()).value());

    REQUIRE(mail.has_value());
    CHECK(mail->matches(rules::field::to, rules::comparison::equals, "box+tag@example.org"));
}

TEST_CASE("what cannot be an event says why", "[webhooks][events]")
{
    auto no_id = received();
    no_id.headers.clear();
    CHECK(error_of(no_id) == "the header ce_id is missing");

    auto other_version = received();
    replace_header(other_version, "ce_id", "01934f2e-7b1c-4d3a-9f00-5a1b2c3d4e5f");
    CHECK(error_of(other_version).starts_with("the header ce_id is no version 7 UUID"));

    auto other_id = received();
    replace_header(other_id, "ce_id", event_id::make().text());
    CHECK(error_of(other_id) ==
          "the header ce_id is not the email_id \"" + std::string(email) + "\"");

    auto other_type = received();
    replace_header(other_type, "ce_type", "email.sent");
    CHECK(error_of(other_type).starts_with("the header ce_type must be email.received"));

    auto nonsense = received();
    nonsense.value = "\xff\xff\xff";
    CHECK(error_of(nonsense).find("EmailReceived") != std::string::npos);

    auto no_account = received();
    no_account.value = events::v1::EmailReceived().SerializeAsString();
    CHECK(error_of(no_account) != "decoded");
}

TEST_CASE("event kinds are named as documented", "[webhooks][events]")
{
    CHECK(*read_event_set({}) == event_set::all());
    CHECK(read_event_set({"inbox.expired", "email.received"})->names() ==
          std::vector<std::string>{"email.received", "inbox.expired"});
    CHECK(read_event_set({"email.sent"}).error().message ==
          "events must be email.received, inbox.created or inbox.expired, not \"email.sent\"");
}
