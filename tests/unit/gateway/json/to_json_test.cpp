#include "gateway/json/resources.hpp"

#include <google/protobuf/util/json_util.h>

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

// Messages as Protobuf's own JSON: shorter than setters.
template <class Message>
Message message_of(const std::string& json)
{
    Message message;
    const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
    if (!status.ok())
        throw std::runtime_error(status.ToString());
    return message;
}

constexpr const char* full_inbox =
    R"({"inboxId":"i1","emailAddress":"a@x.test","name":"Sign-up","tags":["ci","b"],)"
    R"("metadata":{"z":"1","a":"2"},"status":"INBOX_STATUS_EXPIRED","emailCount":"3","lastSequence":"9",)"
    R"("lastEmailAt":"2026-11-21T10:00:00.123456Z","createdAt":"2026-11-21T09:00:00Z",)"
    R"("expiresAt":"2026-11-22T09:00:00Z","expiredAt":"2026-11-22T09:00:00.5Z",)"
    R"("retention":{"maxAgeSeconds":"604800","whenFull":"WHEN_FULL_DROP_OLDEST"},"renewOnUse":true})";

const capture_server no_captures;

// A capture inbox of a server with these ports.
capture_server server_with(std::vector<std::uint16_t> starttls, std::vector<std::uint16_t> tls,
                           std::vector<std::uint16_t> clear = {})
{
    return {"smtp.x.test", std::move(starttls), std::move(tls), std::move(clear)};
}

constexpr const char* used_login =
    R"({"user":"cap_a1","createdAt":"2026-11-21T09:00:00Z","lastUsedAt":"2026-11-21T10:00:00Z",)"
    R"("previousValidUntil":"2026-11-21T11:00:00Z"})";

} // namespace

TEST_CASE("a login shows where to send, and its password where that was just made",
          "[gateway][json]")
{
    const auto login =
        message_of<inbox::v1::Login>(R"({"user":"cap_a1","createdAt":"2026-11-21T09:00:00Z"})");
    inbox::v1::Inbox capture;
    *capture.mutable_login() = message_of<inbox::v1::Login>(used_login);

    CHECK(to_json(login, server_with({587, 2525}, {465}, {1025}), secret("tic_b2")) ==
          R"({"host":"smtp.x.test","ports":{"starttls":[587,2525],"tls":[465],"clear":[1025]},)"
          R"("user":"cap_a1","password":"tic_b2","url":"smtps://cap_a1:tic_b2@smtp.x.test:465",)"
          R"("createdAt":"2026-11-21T09:00:00.000Z","lastUsedAt":null,"previousValidUntil":null})");
    CHECK_THAT(to_json(login, server_with({587}, {}), secret("tic_b2")),
               Catch::Contains(R"("url":"smtp://cap_a1:tic_b2@smtp.x.test:587")"));
    CHECK_THAT(to_json(login, server_with({}, {}, {1025}), secret("tic_b2")),
               Catch::Contains(R"("url":"smtp://cap_a1:tic_b2@smtp.x.test:1025")"));
    CHECK_THAT(
        to_json(capture, server_with({587}, {})),
        Catch::EndsWith(
            R"("capture":{"host":"smtp.x.test","ports":{"starttls":[587],"tls":[],"clear":[]},)"
            R"("user":"cap_a1","createdAt":"2026-11-21T09:00:00.000Z","lastUsedAt":"2026-11-21T10:00:00.000Z",)"
            R"("previousValidUntil":"2026-11-21T11:00:00.000Z"}})"));
    CHECK_THAT(
        to_json(capture, no_captures),
        Catch::Contains(R"("capture":{"host":null,"ports":{"starttls":[],"tls":[],"clear":[]},)"));
}

TEST_CASE("an inbox shows every field, absent ones as null", "[gateway][json]")
{
    const auto fresh = message_of<inbox::v1::Inbox>(
        R"({"inboxId":"i1","emailAddress":"a@x.test","status":"INBOX_STATUS_ACTIVE",)"
        R"("createdAt":"2026-11-21T09:00:00Z","expiresAt":"2026-11-22T09:00:00Z"})");

    CHECK(
        to_json(fresh, no_captures) ==
        R"({"inboxId":"i1","emailAddress":"a@x.test","name":null,"tags":[],"metadata":{},"status":"active",)"
        R"("emailCount":0,"lastSequence":0,"lastEmailAt":null,"createdAt":"2026-11-21T09:00:00.000Z",)"
        R"("expiresAt":"2026-11-22T09:00:00.000Z","expiredAt":null,)"
        R"("renewOnUse":false,"retention":{"maxAgeSeconds":null,"whenFull":"refuse"},"capture":null})");
}

TEST_CASE("an inbox with everything", "[gateway][json]")
{
    CHECK(
        to_json(message_of<inbox::v1::Inbox>(full_inbox), no_captures) ==
        R"({"inboxId":"i1","emailAddress":"a@x.test","name":"Sign-up","tags":["ci","b"],"metadata":{"a":"2","z":"1"},)"
        R"("status":"expired","emailCount":3,"lastSequence":9,"lastEmailAt":"2026-11-21T10:00:00.123Z",)"
        R"("createdAt":"2026-11-21T09:00:00.000Z","expiresAt":"2026-11-22T09:00:00.000Z","expiredAt":"2026-11-22T09:00:00.500Z",)"
        R"("renewOnUse":true,"retention":{"maxAgeSeconds":604800,"whenFull":"dropOldest"},"capture":null})");
}

TEST_CASE("whether an inbox is full is shown only where it is requested", "[gateway][json]")
{
    const auto full = message_of<inbox::v1::Inbox>(R"({"inboxId":"i1","isFull":true})");
    inbox_extras extras;
    extras.fullness = true;

    CHECK_THAT(to_json(full, no_captures, extras),
               Catch::EndsWith(R"("capture":null,"isFull":true})"));
    CHECK_THAT(to_json(full, no_captures), Catch::EndsWith(R"("capture":null})"));
}

TEST_CASE("lists end with the cursor, null on the last page", "[gateway][json]")
{
    CHECK(to_json(inbox::v1::ListInboxesResponse(), no_captures) ==
          R"({"inboxes":[],"nextCursor":null})");
    CHECK(to_json(message_of<inbox::v1::ListEmailsResponse>(R"({"nextCursor":"abc"})")) ==
          R"({"emails":[],"nextCursor":"abc"})");
    CHECK(to_json(webhooks::v1::ListWebhooksResponse()) == R"({"webhooks":[],"nextCursor":null})");
    CHECK(
        to_json(message_of<inbox::v1::ListDomainsResponse>(
            R"({"domains":[{"domain":"x.test","isDefault":true,"takesSubdomains":true},)"
            R"({"domain":"ci.x.test","isSubdomain":true}]})")) ==
        R"({"domains":[)"
        R"({"domain":"x.test","isDefault":true,"takesSubdomains":true,"isSubdomain":false},)"
        R"({"domain":"ci.x.test","isDefault":false,"takesSubdomains":false,"isSubdomain":true}]})");
}

TEST_CASE("rejections show sender and reply as texts", "[gateway][json]")
{
    CHECK(to_json(inbox::v1::ListRejectionsResponse()) == R"({"rejections":[]})");
    CHECK(to_json(message_of<inbox::v1::ListRejectionsResponse>(
              R"({"rejections":[{"reason":"too_large","mailFrom":"\"<b>\"@x.test",)"
              R"("reply":"552 5.3.4 Message is too large","attempts":"3",)"
              R"("firstAt":"2026-11-21T10:00:00Z","lastAt":"2026-11-21T10:00:07.500Z"}]})")) ==
          R"({"rejections":[{"reason":"too_large","mailFrom":"\"<b>\"@x.test",)"
          R"("reply":"552 5.3.4 Message is too large","attemptCount":3,)"
          R"("firstAt":"2026-11-21T10:00:00.000Z","lastAt":"2026-11-21T10:00:07.500Z"}]})");
}

TEST_CASE("a list's emails are summaries", "[gateway][json]")
{
    const auto list = message_of<inbox::v1::ListEmailsResponse>(
        R"({"emails":[{"emailId":"e1","inboxId":"i1","sequence":"4","from":"s@y.test","fromName":"S","to":[{"address":"a@x.test","name":"A"}],"recipients":["a+t@x.test"],"subject":"Hi",)"
        R"("preview":"Hello","receivedAt":"2026-11-21T10:00:00Z","sizeBytes":"1234","attachmentCount":1,"isRead":true,)"
        R"("codes":[{"value":"123456"}]}]})");

    CHECK(
        to_json(list) ==
        R"({"emails":[{"emailId":"e1","inboxId":"i1","sequence":4,"from":"s@y.test","fromName":"S","to":[{"address":"a@x.test","name":"A"}],"recipients":["a+t@x.test"],)"
        R"("subject":"Hi","preview":"Hello","receivedAt":"2026-11-21T10:00:00.000Z","sizeBytes":1234,)"
        R"("attachmentCount":1,"isRead":true}],"nextCursor":null})");
}

TEST_CASE("a bare email has null, empty text and empty lists in their places", "[gateway][json]")
{
    const auto email = message_of<inbox::v1::Email>(
        R"({"summary":{"emailId":"e1","inboxId":"i1","sequence":"1","receivedAt":"2026-11-21T10:00:00Z"},"envelope":{}})");

    CHECK(
        to_json(email) ==
        R"({"emailId":"e1","inboxId":"i1","sequence":1,"from":"","fromName":"","to":[],"recipients":[],"subject":"","preview":"",)"
        R"("receivedAt":"2026-11-21T10:00:00.000Z","sizeBytes":0,"attachmentCount":0,"isRead":false,"cc":[],"bcc":[],"replyTo":[],)"
        R"("messageId":null,"date":null,"headers":[],"text":null,"html":null,"attachments":[],"codes":[],"links":[],)"
        R"("authentication":null,"envelope":{"mailFrom":"","remoteAddress":"","helo":"","tls":null,"login":null},"routing":null,"defects":[]})");
}

TEST_CASE("an email with everything", "[gateway][json]")
{
    const auto email = message_of<inbox::v1::Email>(
        R"({"summary":{"emailId":"e1","inboxId":"i1","sequence":"1","receivedAt":"2026-11-21T10:00:00Z",)"
        R"("codes":[{"value":"123456","score":0.5,"part":"text","offset":13}]},)"
        R"("cc":[{"address":"c@x.test","name":"C \"c\""}],"bcc":[{"address":"b@x.test"}],"replyTo":[{"address":"r@x.test"}],"messageId":"<m@y>","date":"2026-11-21T09:59:59Z",)"
        R"("headers":[{"name":"X-Y","value":"z"}],"text":"t","html":"<p>","attachments":[{"attachmentId":"1","filename":"f.pdf",)"
        R"("contentType":"application/pdf","sizeBytes":"10","contentId":"c","inline":true,"sha256":"2cf2"}],)"
        R"("links":[{"url":"https://z.test/v","text":"Verify","kind":"verify"}],)"
        R"("envelope":{"mailFrom":"s@y.test","remoteAddress":"192.0.2.1","helo":"y.test","tls":"TLSv1.3","login":null},)"
        R"("defects":["no date"]})");

    CHECK(
        to_json(email) ==
        R"({"emailId":"e1","inboxId":"i1","sequence":1,"from":"","fromName":"","to":[],"recipients":[],"subject":"","preview":"",)"
        R"("receivedAt":"2026-11-21T10:00:00.000Z","sizeBytes":0,"attachmentCount":0,"isRead":false,)"
        R"("cc":[{"address":"c@x.test","name":"C \"c\""}],"bcc":[{"address":"b@x.test","name":""}],"replyTo":[{"address":"r@x.test","name":""}],"messageId":"<m@y>","date":"2026-11-21T09:59:59.000Z",)"
        R"("headers":[{"name":"X-Y","value":"z"}],"text":"t","html":"<p>","attachments":[{"attachmentId":"1","filename":"f.pdf",)"
        R"("contentType":"application/pdf","sizeBytes":10,"contentId":"c","isInline":true,"sha256":"2cf2"}],)"
        R"("codes":[{"value":"123456","score":0.5,"part":"text","offset":13}],)"
        R"("links":[{"url":"https://z.test/v","text":"Verify","kind":"verify"}],"authentication":null,)"
        R"("envelope":{"mailFrom":"s@y.test","remoteAddress":"192.0.2.1","helo":"y.test","tls":"TLSv1.3","login":null},)"
        R"("routing":null,"defects":["no date"]})");
}

TEST_CASE("a webhook shows its secret when it is made and never again", "[gateway][json]")
{
    const auto created = message_of<webhooks::v1::CreateWebhookResponse>(
        R"({"webhook":{"webhookId":"w1","url":"https://z.test/","events":["email.received"],"description":"d","isEnabled":true,)"
        R"("createdAt":"2026-11-21T10:00:00Z"},"secret":"whsec_x"})");

    CHECK(
        to_json(created) ==
        R"({"webhookId":"w1","url":"https://z.test/","events":["email.received"],"description":"d","isEnabled":true,)"
        R"("disabledReason":null,"createdAt":"2026-11-21T10:00:00.000Z","secret":"whsec_x"})");
    CHECK(
        to_json(created.webhook()) ==
        R"({"webhookId":"w1","url":"https://z.test/","events":["email.received"],"description":"d",)"
        R"("isEnabled":true,"disabledReason":null,"createdAt":"2026-11-21T10:00:00.000Z"})");
}

TEST_CASE("an account shows the limits that hold now", "[gateway][json]")
{
    accounts::account account;
    account.email = "a@example.com";
    account.state.account = account_id::parse("01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f").value();
    account.state.plan = "pass7";
    account.state.plan_ends_at = *parse_iso8601("2026-11-28T10:00:00Z");
    account.state.limits.api_access = true;
    account.state.limits.requests_per_day = 3'000;
    account.state.limits.burst_per_second = 50;
    account.state.limits.live_inboxes = 50;
    account.state.limits.max_ttl = std::chrono::hours(168);
    account.state.limits.max_message_bytes = 26'214'400;
    account.state.limits.webhooks = account.state.limits.api_keys = 1;
    account.state.limits.captures = 2;
    account.state.limits.catch_alls = 0;
    account_usage usage;
    usage.requests_today = 7;
    usage.live_inboxes = 2;
    usage.webhooks = 1;

    CHECK(
        to_json(account, usage, *parse_iso8601("2026-11-21T10:00:00Z")) ==
        R"({"accountId":"01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f","emailAddress":"a@example.com","plan":"pass7",)"
        R"("planEndsAt":"2026-11-28T10:00:00.000Z","limits":{"requestsPerDay":3000,"burstPerSecond":50,"liveInboxes":50,"maxTtlSeconds":604800,)"
        R"("maxMessageBytes":26214400,"webhooks":1,"apiKeys":1,"routingRules":0,"captures":2,"catchAlls":0},)"
        R"("usage":{"requestsToday":7,"liveInboxes":2,"webhooks":1}})");
    CHECK(
        to_json(account, usage, *parse_iso8601("2026-11-28T10:00:00Z")).find(R"("plan":"free")") !=
        std::string::npos);
}

TEST_CASE("a deletion names what it deleted", "[gateway][json]")
{
    CHECK(deleted_json("inboxId", "i1") == R"({"inboxId":"i1","deleted":true})");
}

TEST_CASE("faults show each step with what was used of it", "[gateway][json][faults]")
{
    const auto faults = message_of<inbox::v1::FaultSet>(
        R"({"steps":{"steps":[{"stage":"rcpt","reply":"451 4.7.1 Later","times":"2","to":"bob@",)"
        R"("perRecipient":true},{"stage":"end","delaySeconds":"3","cut":"stored"}]},"used":["1"]})");

    CHECK(to_json(faults) ==
          R"({"steps":[{"stage":"rcpt","reply":"451 4.7.1 Later","delaySeconds":0,"cut":null,)"
          R"("times":2,"forSeconds":null,"abovePerMinute":null,"every":null,"to":"bob@",)"
          R"("per":"recipient","used":1},{"stage":"end","reply":null,"delaySeconds":3,)"
          R"("cut":"stored","times":null,"forSeconds":null,"abovePerMinute":null,"every":null,)"
          R"("to":null,"per":null,"used":0}]})");
    CHECK(to_json(inbox::v1::FaultSet()) == R"({"steps":[]})");
}

TEST_CASE("a report shows the attempts of each message with their delays, and the marks by name",
          "[gateway][json][senders]")
{
    const auto report = message_of<inbox::v1::SenderReport>(
        R"({"messages":[{"messageId":"<1@a.test>","mailFrom":"a@a.test","recipients":["bob@b.test"],)"
        R"("recipientCount":1,"attempts":[{"number":1,"at":"2026-11-21T10:00:00Z","stage":"rcpt",)"
        R"("reply":"451 4.7.1 Later","step":0,"refused":[{"recipient":"bob@b.test",)"
        R"("reply":"451 4.7.1 Later","step":0}],"remoteAddress":"192.0.2.1","isPipelined":true},)"
        R"({"number":2,"at":"2026-11-21T10:00:02.500Z","stage":"end","remoteAddress":"192.0.2.1",)"
        R"("tls":"TLSv1.3","isChunked":true}],"state":"open","isAmbiguous":true}],)"
        R"("marks":[{"name":"quit","value":"yes","attempts":[2],"section":"RFC 5321 4.1.1.10"},)"
        R"({"name":"duplicates","value":"no","section":"RFC 5321 6.1","note":"n","count":0}],)"
        R"("notApplied":[{"at":"2026-11-21T10:00:00Z","attempt":1,"stage":"end",)"
        R"("reason":"noAnswer"}]})");

    CHECK(to_json(report) ==
          R"({"messages":[{"messageId":"<1@a.test>","mailFrom":"a@a.test",)"
          R"("recipients":["bob@b.test"],"recipientCount":1,"attempts":[{"number":1,)"
          R"("at":"2026-11-21T10:00:00.000Z","stage":"rcpt","reply":"451 4.7.1 Later","step":0,)"
          R"("refused":[{"recipient":"bob@b.test","reply":"451 4.7.1 Later","step":0}],)"
          R"("remoteAddress":"192.0.2.1","tls":null,"pipelined":true,"chunked":false},)"
          R"({"number":2,"at":"2026-11-21T10:00:02.500Z","stage":"end","reply":null,"step":null,)"
          R"("refused":[],"remoteAddress":"192.0.2.1","tls":"TLSv1.3","pipelined":false,)"
          R"("chunked":true}],"delaysSeconds":[2.5],"state":"open","emailIds":[],)"
          R"("ambiguous":true}],"marks":{"quit":{"value":"yes","attempts":[2],)"
          R"("section":"RFC 5321 4.1.1.10","note":null},"duplicates":{"value":"no","count":0,)"
          R"("attempts":[],"section":"RFC 5321 6.1","note":"n"}},"notApplied":[)"
          R"({"at":"2026-11-21T10:00:00.000Z","attempt":1,"stage":"end","reason":"noAnswer"}]})");
}
