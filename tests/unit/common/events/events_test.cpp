#include "common/events/events.hpp"

#include <catch2/catch.hpp>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>

using namespace tempinbox;

namespace {

const std::string email = "0193a2b4-0000-7000-8000-000000000001";
const std::string inbox = "0193a2b4-0000-7000-8000-000000000002";
const std::string account = "0193a2b4-0000-7000-8000-000000000003";
const trace::traceparent parent =
    *trace::traceparent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

events::v1::EmailReceived some_email()
{
    events::v1::EmailReceived event;
    event.set_email_id(email);
    event.set_inbox_id(inbox);
    event.set_account_id(account);
    event.set_sequence(7);
    event.set_subject("Hello");
    event.mutable_received_at()->set_seconds(1'795'255'200);
    event.mutable_received_at()->set_nanos(123'456'789);
    return event;
}

kafka::record as_read(const outbox::row& row)
{
    kafka::record record;
    record.topic = row.message.topic;
    record.partition = 3;
    record.offset = 42;
    record.key = row.message.key;
    record.value = row.message.value;
    record.is_tombstone = row.message.is_tombstone;
    record.headers = row.message.headers;
    return record;
}

} // namespace

TEST_CASE("email.received is a CloudEvent in binary mode", "[events]")
{
    const auto row = events::make_row(some_email(), parent);

    CHECK(row.id.text() == email);
    CHECK(row.account.text() == account);
    CHECK(row.sequence == 7);
    CHECK(row.message.topic == "email.received");
    CHECK(row.message.key == inbox);
    CHECK_FALSE(row.message.is_tombstone);
    CHECK(row.message.headers ==
          kafka::header_list{{"ce_specversion", "1.0"},
                             {"ce_id", email},
                             {"ce_type", "email.received"},
                             {"ce_source", "/tempinbox/mail-ingest"},
                             {"ce_subject", inbox},
                             {"ce_time", "2026-11-21T10:00:00.123Z"},
                             {"ce_dataschema", "urn:tempinbox:schema:tempinbox.events.v1."
                                               "EmailReceived"},
                             {"ce_accountid", account},
                             {"ce_partitionkey", inbox},
                             {"content-type", "application/protobuf"},
                             {"traceparent", parent.text()},
                             {"ce_sequence", "0000000000000000007"}});
}

TEST_CASE("sequences of events sort as texts as they do as numbers", "[events]")
{
    std::vector<std::string> texts;
    for (const std::int64_t sequence :
         {std::int64_t{1}, std::int64_t{9}, std::int64_t{10}, std::int64_t{1} << 40, INT64_MAX}) {
        auto event = some_email();
        event.clear_sequence();
        auto row = events::make_row(event, parent);
        CHECK(row.message.headers.back().first == "traceparent");

        events::set_sequence(row, sequence);

        CHECK(row.sequence == sequence);
        texts.push_back(row.message.headers.back().second);
        CHECK(std::stoll(texts.back()) == sequence);
    }
    CHECK(std::is_sorted(texts.begin(), texts.end()));
}

TEST_CASE("every event says whose it is and what its value is", "[events]")
{
    events::v1::InboxCreated created;
    created.set_inbox_id(inbox);
    created.set_account_id(account);
    events::v1::InboxExpired expired;
    expired.set_inbox_id(inbox);
    expired.set_account_id(account);
    plans::account_state state;
    state.account = account_id::parse(account).value();

    const auto id = event_id::make();
    for (const auto& row :
         {events::make_row(created, id, parent), events::make_row(expired, id, parent),
          events::make_row(state, id, parent)}) {
        const auto record = as_read(row);
        CHECK(row.account.text() == account);
        CHECK(record.header("ce_accountid") == account);
        CHECK(record.header("ce_subject") == record.key);
        CHECK(record.header("ce_partitionkey") == record.key);
    }
    CHECK(as_read(events::make_row(state, id, parent)).header("ce_dataschema") ==
          "urn:tempinbox:schema:tempinbox.accounts.v1.AccountState");
}

TEST_CASE("headers that a reader does not know change nothing", "[events]")
{
    auto record = as_read(events::make_row(some_email(), parent));
    const auto before = events::read_envelope(record).value();
    record.headers.emplace_back("ce_later", "extension");
    record.headers.emplace_back("__value_schema_id", std::string("\x01\xff\x00\xfe", 4));
    record.headers.emplace_back("", "");

    const auto after = events::read_envelope(record).value();

    CHECK(after.id == before.id);
    CHECK(after.time == before.time);
    CHECK(events::read_email_received(record)->email_id() == email);
}

TEST_CASE("the schemas of the public topics are the ones that their events name", "[events]")
{
    for (const auto& [topic, message] : events::public_schemas()) {
        CAPTURE(topic);
        CHECK(message->file()->name().starts_with("tempinbox/events/v1/"));
        CHECK(message->containing_type() == nullptr);
    }
    CHECK(events::public_schemas().front().message->full_name() ==
          "tempinbox.events.v1.EmailReceived");
}

TEST_CASE("an id that came in capitals is published in lower case", "[events]")
{
    auto event = some_email();
    event.set_email_id("0193A2B4-0000-7000-8000-000000000001");
    CHECK(events::make_row(event, parent).message.headers[1].second == email);
}

TEST_CASE("an event without an id cannot be made", "[events]")
{
    CHECK_THROWS(events::make_row(events::v1::EmailReceived(), parent));
}

TEST_CASE("email.received is read as it was made", "[events]")
{
    const auto record = as_read(events::make_row(some_email(), parent));

    const auto read = events::read_email_received(record);
    const auto envelope = events::read_envelope(record);

    REQUIRE(read);
    CHECK(read->SerializeAsString() == some_email().SerializeAsString());
    REQUIRE(envelope);
    CHECK(envelope->id.text() == email);
    CHECK(envelope->type == "email.received");
    CHECK(to_iso8601(envelope->time) == "2026-11-21T10:00:00.123Z");
    REQUIRE(envelope->parent);
    CHECK(envelope->parent->text() == parent.text());
}

TEST_CASE("the events of an inbox are ordered: made, mail, ended", "[events]")
{
    events::v1::InboxCreated created;
    created.set_inbox_id(inbox);
    created.set_account_id(account);
    created.set_email_address("a@example.com");
    events::v1::InboxExpired expired;
    expired.set_inbox_id(inbox);
    expired.set_account_id(account);

    const auto made = events::make_row(created, event_id::make(), parent);
    const auto ended = events::make_row(expired, event_id::make(), parent);

    CHECK(made.message.key == ended.message.key);
    CHECK(made.sequence < events::make_row(some_email(), parent).sequence);
    CHECK(ended.sequence > 1'000'000'000);
    CHECK(events::read_inbox_created(as_read(made))->email_address() == "a@example.com");
    CHECK(events::read_inbox_expired(as_read(ended))->inbox_id() == inbox);
}

TEST_CASE("inbox.state is keyed by the inbox and ordered by version; a purged inbox is a tombstone",
          "[events]")
{
    events::v1::InboxState state;
    state.set_inbox_id(inbox);
    state.set_account_id(account);
    state.set_email_address("a@example.com");
    state.set_status(events::v1::INBOX_STATUS_ACTIVE);
    state.set_version(3);
    const auto changed_at = parse_iso8601("2026-11-21T10:00:00.123Z").value();

    const auto row = events::make_row(state, event_id::make(), changed_at, parent);
    CHECK(row.message.topic == "inbox.state");
    CHECK(row.message.key == inbox);
    CHECK(row.sequence == 3);
    CHECK(as_read(row).header("ce_time") == "2026-11-21T10:00:00.123Z");
    CHECK_FALSE(as_read(row).header("inbox_version"));
    events::v1::InboxState read;
    REQUIRE(read.ParseFromString(row.message.value));
    CHECK(read.email_address() == "a@example.com");

    state.set_version(4);
    const auto tombstone = events::make_tombstone(state, event_id::make(), parent);
    CHECK(tombstone.message.is_tombstone);
    CHECK(tombstone.message.value.empty());
    CHECK(tombstone.sequence == 4);
    CHECK(as_read(tombstone).header("inbox_version") == "4");
    CHECK(as_read(tombstone).header("ce_accountid") == account);
}

TEST_CASE("an event that is written again is the same but for its mark and its trace", "[events]")
{
    trace::context cause(parent);
    cause.tracestate = "vendor=1";
    const auto row = events::make_row(some_email(), cause);

    const auto again = events::make_backfill(row, "email.received.again");

    CHECK(again.topic == "email.received.again");
    CHECK(again.key == row.message.key);
    CHECK(again.value == row.message.value);
    auto expected = row.message.headers;
    std::erase_if(expected, [](const auto& header) { return header.first.starts_with("trace"); });
    expected.emplace_back("ce_backfill", "true");
    CHECK(again.headers == expected);
    CHECK(row.message.headers.size() == again.headers.size() + 1);
}

TEST_CASE("account.state is keyed by the account; a deleted account is a tombstone", "[events]")
{
    plans::account_state state;
    state.account = account_id::parse(account).value();
    state.plan = "pro";
    state.version = 9;

    const auto row = events::make_row(state, event_id::make(), parent);
    CHECK(row.message.topic == "account.state");
    CHECK(row.message.key == account);
    CHECK(row.sequence == 9);
    const auto read = events::read_account_state(as_read(row));
    REQUIRE(read);
    CHECK(read->plan == "pro");
    CHECK(read->version == 9);

    state.is_deleted = true;
    const auto tombstone = events::make_row(state, event_id::make(), parent);
    CHECK(tombstone.message.is_tombstone);
    CHECK(tombstone.message.value.empty());
    const auto gone = events::read_account_state(as_read(tombstone));
    REQUIRE(gone);
    CHECK(gone->is_deleted);
    CHECK(gone->account == state.account);
    CHECK(gone->version == 9);

    auto without_version = as_read(tombstone);
    std::erase_if(without_version.headers,
                  [](const auto& header) { return header.first == "account_version"; });
    CHECK(events::read_account_state(without_version)->version == INT64_MAX);
    auto bad_version = without_version;
    bad_version.headers.emplace_back("account_version", "9x");
    CHECK(events::read_account_state(bad_version).error().message.find("account_version") !=
          std::string::npos);
}

TEST_CASE("what cannot be read is a failure that says why", "[events]")
{
    auto record = as_read(events::make_row(some_email(), parent));

    SECTION("a value that is no message")
    {
        record.value = "\xff\xff\xff";
        CHECK(events::read_email_received(record).error().message.find("EmailReceived") !=
              std::string::npos);
    }
    SECTION("a tombstone")
    {
        record.is_tombstone = true;
        CHECK_FALSE(events::read_email_received(record));
    }
    SECTION("a message with a bad id")
    {
        auto event = some_email();
        event.set_inbox_id("x");
        record.value = event.SerializeAsString();
        CHECK(events::read_email_received(record).error().message.find("inboxId") !=
              std::string::npos);
    }
    SECTION("no ce_id")
    {
        record.headers.clear();
        CHECK(events::read_envelope(record).error().message.find("ce_id") != std::string::npos);
    }
    SECTION("a ce_id that is no version 7 UUID")
    {
        record.headers.emplace_back("ce_id", "0193a2b4-0000-4000-8000-000000000001");
        CHECK_FALSE(events::read_envelope(record));
    }
}

TEST_CASE("an invalid traceparent or time is not fatal", "[events]")
{
    auto record = as_read(events::make_row(some_email(), parent));
    record.headers.emplace_back("traceparent", "rubbish");
    record.headers.emplace_back("ce_time", "yesterday");

    const auto envelope = events::read_envelope(record);

    REQUIRE(envelope);
    CHECK_FALSE(envelope->parent);
    CHECK(envelope->time == envelope->id.value().time());
}

TEST_CASE("a dead letter is the record as it came, and why", "[events]")
{
    const auto record = as_read(events::make_row(some_email(), parent));

    const auto dead_letter = events::make_dead_letter(record, "webhook-dispatcher", "it is broken");

    CHECK(dead_letter.topic == "email.received.dead-letter");
    CHECK(dead_letter.key == record.key);
    CHECK(dead_letter.value == record.value);
    REQUIRE(dead_letter.headers.size() == record.headers.size() + 3);
    const kafka::header_list added(dead_letter.headers.end() - 3, dead_letter.headers.end());
    CHECK(added == kafka::header_list{{"dead_letter_reason", "it is broken"},
                                      {"dead_letter_source", "email.received/3/42"},
                                      {"dead_letter_consumer", "webhook-dispatcher"}});
}

TEST_CASE("a replayed dead letter is the original record", "[events]")
{
    const auto record = as_read(events::make_row(some_email(), parent));
    const auto dead_letter = events::make_dead_letter(record, "webhook-dispatcher", "it is broken");
    kafka::record lying;
    lying.topic = dead_letter.topic;
    lying.key = dead_letter.key;
    lying.value = dead_letter.value;
    lying.headers = dead_letter.headers;

    const auto event = events::make_replay(lying).value();

    CHECK(event.topic == "email.received");
    CHECK(event.key == record.key);
    CHECK(event.value == record.value);
    CHECK(event.headers == record.headers);
    CHECK(events::make_replay(record).has_error());
}
