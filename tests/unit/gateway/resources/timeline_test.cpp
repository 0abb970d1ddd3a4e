#include "gateway/resources/timeline.hpp"

#include "common/json/value.hpp"
#include "common/rpc/timestamp.hpp"
#include "unit/gateway/resources/contract.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

#include <string>
#include <vector>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using inbox::v1::GetEmailArrivalRequest;
using inbox::v1::GetEmailArrivalResponse;
using webhooks::v1::GetEmailDeliveriesRequest;
using webhooks::v1::GetEmailDeliveriesResponse;

namespace {

const auto ten = *parse_iso8601("2026-11-21T10:00:00Z");

GetEmailArrivalResponse arrival_at(time_point received_at)
{
    GetEmailArrivalResponse arrival;
    arrival.set_inbox_id(inbox_id::make().text());
    *arrival.mutable_received_at() = rpc::to_timestamp(received_at);
    arrival.set_size_bytes(812);
    auto& envelope = *arrival.mutable_envelope();
    envelope.set_mail_from("bounce@sender.example");
    arrival.add_recipients("ann@mail.test");
    envelope.set_remote_address("192.0.2.7");
    envelope.set_helo("mx.sender.example");
    return arrival;
}

webhooks::v1::EmailDelivery& add_delivery(GetEmailDeliveriesResponse& found, time_point created_at)
{
    auto& added = *found.add_deliveries();
    added.set_delivery_id(uuid::make_v7().text());
    added.set_webhook_id(webhook_id::make().text());
    added.set_url("https://app.example.com/hook");
    added.set_status("succeeded");
    *added.mutable_created_at() = rpc::to_timestamp(created_at);
    return added;
}

void add_attempt(webhooks::v1::EmailDelivery& delivery, time_point at, int status)
{
    auto& added = *delivery.add_attempts();
    added.set_number(delivery.attempts_size());
    *added.mutable_at() = rpc::to_timestamp(at);
    if (status != 0)
        added.set_status_code(status);
    added.set_duration_ms(41);
}

json::value timeline_of(const GetEmailArrivalResponse& arrival,
                        const GetEmailDeliveriesResponse& found)
{
    return json::value::parse(timeline_json(email_id::make().text(), arrival, found)).value();
}

std::vector<std::string> names_of_steps(const json::value& timeline)
{
    std::vector<std::string> names;
    for (const auto& step : timeline["steps"].items())
        names.push_back(step["step"].text());
    return names;
}

using names = std::vector<std::string>;

// The operation against an inbox service and a dispatcher on loopback.
class arranged_timeline
{
public:
    arranged_timeline()
    {
        inbox_service_.response<GetEmailArrivalRequest, GetEmailArrivalResponse>(
            "tempinbox.inbox.v1.InboxService/GetEmailArrival",
            [this](const GetEmailArrivalRequest& request) {
                inbox_request = request;
                return arrival;
            });
        dispatcher_.response<GetEmailDeliveriesRequest, GetEmailDeliveriesResponse>(
            "tempinbox.webhooks.v1.DeliveryService/GetEmailDeliveries",
            [this](const GetEmailDeliveriesRequest& request) {
                dispatcher_request = request;
                return found;
            });
        inboxes_ = std::make_unique<inbox_client>(testing::test_host(), inbox_service_.start(),
                                                  inbox_service_.tokens());
        webhooks_ = std::make_unique<webhook_client>(testing::test_host(), dispatcher_.start(),
                                                     dispatcher_.tokens());
    }

    http::response get(const caller& who, const std::string& id)
    {
        http::request received;
        received.method = "GET";
        received.path_params.emplace_back("emailId", id);
        return testing::await(get_email_timeline(received, who, *inboxes_, *webhooks_, memory_));
    }

    result<GetEmailArrivalResponse> arrival = arrival_at(ten);
    result<GetEmailDeliveriesResponse> found = GetEmailDeliveriesResponse();
    std::optional<GetEmailArrivalRequest> inbox_request;
    std::optional<GetEmailDeliveriesRequest> dispatcher_request;

private:
    testing::fake_service inbox_service_;
    testing::fake_service dispatcher_;
    std::unique_ptr<inbox_client> inboxes_;
    std::unique_ptr<webhook_client> webhooks_;
    response_budget memory_{1'000'000};
};

} // namespace

TEST_CASE("a timeline has the attempts of all deliveries in the order of time",
          "[gateway][timeline]")
{
    GetEmailDeliveriesResponse found;
    auto& rule = *found.add_rules();
    rule.set_rule_id(rule_id::make().text());
    rule.set_name("Codes");
    rule.set_matched(true);
    auto& first = add_delivery(found, ten + 100ms);
    add_attempt(first, ten + 200ms, 503);
    add_attempt(first, ten + 5s, 204);
    auto& second = add_delivery(found, ten + 101ms);
    add_attempt(second, ten + 1s, 200);

    const auto timeline = timeline_of(arrival_at(ten), found);

    CHECK(names_of_steps(timeline) == names{"connected", "accepted", "stored", "published", "rules",
                                            "delivery", "delivery", "attempt", "attempt",
                                            "attempt"});
    const auto steps = timeline["steps"];
    CHECK(steps[4]["at"].text() == "2026-11-21T10:00:00.100Z");
    CHECK(steps[4]["rules"][0]["name"].text() == "Codes");
    CHECK(steps[4]["rules"][0]["isMatch"].boolean());
    CHECK(steps[5]["deliveryId"].text() == found.deliveries(0).delivery_id());
    CHECK(steps[5]["webhookId"].text() == found.deliveries(0).webhook_id());
    CHECK(steps[7]["statusCode"].integer() == 503);
    CHECK(steps[7]["outcome"].text() == "failed");
    CHECK(steps[8]["webhookId"].text() == found.deliveries(1).webhook_id());
    CHECK(steps[9]["number"].integer() == 2);
    CHECK(steps[9]["outcome"].text() == "succeeded");
    CHECK(timeline["missing"].size() == 0);
    CHECK_FALSE(timeline["isTruncated"].boolean());
}

TEST_CASE("no step stands before its cause where clocks differ", "[gateway][timeline]")
{
    GetEmailDeliveriesResponse found;
    auto& delivery = add_delivery(found, ten - 30ms); // PostgreSQL's clock is behind
    add_attempt(delivery, ten - 50ms, 500);           // the dispatcher's even more
    add_attempt(delivery, ten + 5s, 200);

    const auto timeline = timeline_of(arrival_at(ten), found);

    CHECK(names_of_steps(timeline) ==
          names{"connected", "accepted", "stored", "published", "delivery", "attempt", "attempt"});
    CHECK(timeline["steps"][4]["at"].text() == "2026-11-21T09:59:59.970Z"); // as stored
    CHECK(timeline["steps"][5]["number"].integer() == 1);
}

TEST_CASE("a step whose time is not stored has none, and says why", "[gateway][timeline]")
{
    GetEmailDeliveriesResponse found;
    found.add_rules()->set_rule_id(rule_id::make().text()); // and no delivery

    const auto steps = timeline_of(arrival_at(ten), found)["steps"];

    REQUIRE(steps.size() == 5);
    for (const auto& step : steps.items()) {
        INFO(step["step"].text());
        if (step["at"].is_null())
            CHECK_FALSE(step["note"].text().empty());
    }
    CHECK(steps[0]["at"].is_null());
    CHECK(steps[0]["remoteAddress"].text() == "192.0.2.7");
    CHECK(steps[1]["at"].text() == "2026-11-21T10:00:00.000Z");
    CHECK(steps[2]["at"].is_null());
    CHECK(steps[3]["isPublished"].boolean());
    CHECK(steps[4]["at"].is_null());
    CHECK(steps[4]["rules"][0]["name"].is_null()); // it was deleted
}

TEST_CASE("an event that waits to be published is shown so, until the dispatcher has it",
          "[gateway][timeline]")
{
    auto arrival = arrival_at(ten);
    *arrival.mutable_unpublished_since() = rpc::to_timestamp(ten + 7ms);
    GetEmailDeliveriesResponse nothing, found;
    add_delivery(found, ten + 100ms);

    const auto waiting = timeline_of(arrival, nothing)["steps"];
    const auto known = timeline_of(arrival, found)["steps"];

    CHECK(waiting[2]["at"].text() == "2026-11-21T10:00:00.007Z");
    CHECK_FALSE(waiting[3]["isPublished"].boolean());
    CHECK(known[3]["isPublished"].boolean());
}

TEST_CASE("only the newest attempt of a pending delivery has a next one", "[gateway][timeline]")
{
    GetEmailDeliveriesResponse found;
    auto& delivery = add_delivery(found, ten);
    delivery.set_status("pending");
    *delivery.mutable_next_attempt_at() = rpc::to_timestamp(ten + 30s);
    add_attempt(delivery, ten + 1s, 503);
    add_attempt(delivery, ten + 6s, 0);

    const auto steps = timeline_of(arrival_at(ten), found)["steps"];

    CHECK(steps[4]["nextAttemptAt"].text() == "2026-11-21T10:00:30.000Z");
    CHECK(steps[5]["nextAttemptAt"].is_null());
    CHECK(steps[6]["nextAttemptAt"].text() == "2026-11-21T10:00:30.000Z");
    CHECK(steps[6]["statusCode"].is_null());
    CHECK(steps[6]["outcome"].text() == "failed");
}

TEST_CASE("each step has the members of the contract", "[gateway][timeline][json]")
{
    GetEmailDeliveriesResponse found;
    found.add_rules()->set_rule_id(rule_id::make().text());
    add_attempt(add_delivery(found, ten + 100ms), ten + 200ms, 200);

    const auto timeline = timeline_of(arrival_at(ten), found);

    CHECK(testing::names_of(timeline) == testing::required_of(testing::schema_of("Timeline")));
    for (const auto& step : timeline["steps"].items()) {
        auto name = step["step"].text();
        name[0] = static_cast<char>(name[0] - 'a' + 'A');
        INFO(name);
        const auto schema = testing::schema_of(name + "Step");
        CHECK(testing::names_of(step) == testing::required_of(schema));
        CHECK(testing::names_of(step) == testing::names_of(schema["properties"]));
    }
}

TEST_CASE("both services are asked for the caller's own email", "[gateway][timeline]")
{
    arranged_timeline arranged;
    add_delivery(*arranged.found, ten);
    arranged.found->set_is_truncated(true);
    const auto who = testing::premium_caller();
    const auto id = email_id::make().text();

    const auto response = arranged.get(who, id);

    REQUIRE(response.status == 200);
    const auto body = json::value::parse(response.body).value();
    CHECK(body["emailId"].text() == id);
    CHECK(body["inboxId"].text() == arranged.arrival->inbox_id());
    CHECK(body["isTruncated"].boolean());
    CHECK(arranged.inbox_request->account_id() == who.account().text());
    CHECK(arranged.inbox_request->email_id() == id);
    CHECK(arranged.dispatcher_request->account_id() == who.account().text());
    CHECK(arranged.dispatcher_request->email_id() == id);
}

TEST_CASE("without the dispatcher the rest of the timeline is answered, and what is missing named",
          "[gateway][timeline]")
{
    arranged_timeline arranged;
    arranged.found = failure{errc::unavailable, "PostgreSQL is away"};

    const auto response = arranged.get(testing::premium_caller(), email_id::make().text());

    REQUIRE(response.status == 200);
    const auto body = json::value::parse(response.body).value();
    CHECK(names_of_steps(body) == names{"connected", "accepted", "stored", "published"});
    REQUIRE(body["missing"].size() == 1);
    CHECK(body["missing"][0].text() == "webhooks_unavailable");
}

TEST_CASE("a key without the scope gets no webhooks, and the timeline says that it is the scope",
          "[gateway][timeline]")
{
    arranged_timeline arranged;
    add_delivery(*arranged.found, ten);
    auto who = testing::premium_caller();
    who.access.scopes = accounts::scope_set::of_names({"emails:read"});

    const auto response = arranged.get(who, email_id::make().text());

    REQUIRE(response.status == 200);
    const auto body = json::value::parse(response.body).value();
    CHECK(names_of_steps(body) == names{"connected", "accepted", "stored", "published"});
    REQUIRE(body["missing"].size() == 1);
    CHECK(body["missing"][0].text() == "webhooks_scope_required");
    CHECK_FALSE(arranged.dispatcher_request);
}

TEST_CASE("a timeline of an email that does not exist is 404, whatever the dispatcher has",
          "[gateway][timeline]")
{
    arranged_timeline arranged;
    add_delivery(*arranged.found, ten);
    arranged.arrival = failure{errc::not_found, "Email does not exist"};

    const auto response = arranged.get(testing::premium_caller(), email_id::make().text());

    CHECK(response.status == 404);
    CHECK(response.body.find("steps") == std::string::npos);
}

TEST_CASE("a timeline takes an email's id and no parameters", "[gateway][timeline]")
{
    arranged_timeline arranged;

    CHECK(arranged.get(testing::premium_caller(), "none").status == 400);
    CHECK_FALSE(arranged.dispatcher_request);
}
