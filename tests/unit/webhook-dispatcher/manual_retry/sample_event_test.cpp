#include "webhook-dispatcher/manual_retry/sample_event.hpp"

#include "common/json/value.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

TEST_CASE("a sample has the shape of the real event of its kind", "[webhooks]")
{
    struct row
    {
        event_kind kind;
        std::vector<const char*> fields;
    };
    const row rows[] = {
        {event_kind::email_received, {"emailId", "inboxId", "from", "subject"}},
        {event_kind::inbox_created, {"inboxId", "emailAddress", "createdAt", "expiresAt"}},
        {event_kind::inbox_expired, {"inboxId", "emailAddress", "expiredAt", "reason"}},
    };
    const auto id = event_id::make();
    const auto now = *parse_iso8601("2026-11-21T12:00:00.5Z");
    for (const auto& row : rows) {
        const auto payload =
            json::value::parse(make_payload(make_sample(row.kind, id, account_id::make(), now)))
                .value();
        INFO(to_string(row.kind));
        CHECK(payload["event"].text() == to_string(row.kind));
        CHECK(payload["timestamp"].text() == "2026-11-21T12:00:00.500Z");
        for (const auto* field : row.fields)
            CHECK_FALSE(payload["data"][field].text().empty());
    }
}

TEST_CASE("the sample of a mail carries the event's id as the email's", "[webhooks]")
{
    const auto id = event_id::make();

    const auto sample = make_sample(event_kind::email_received, id, account_id::make(),
                                    system_clock_source{}.now());

    CHECK(json::value::parse(make_payload(sample)).value()["data"]["emailId"].text() == id.text());
}
