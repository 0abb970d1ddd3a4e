#include "gateway/resources/rules.hpp"

#include "common/json/value.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace webhooks::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";
const std::string other_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e60";

// The operations on rules against a dispatcher and an inbox service on loopback that record their
// requests.
class arranged_rules
{
public:
    arranged_rules()
    {
        note<CreateRuleRequest, CreateRuleResponse>(
            "CreateRule", created, [](const auto& request, auto& response) {
                response.mutable_rule()->set_rule_id(request.rule_id());
            });
        note<UpdateRuleRequest, UpdateRuleResponse>("UpdateRule", changed);
        note<TestRulesRequest, TestRulesResponse>("TestRules", tested);
        inboxes_.response<inbox::v1::GetEmailRequest, inbox::v1::GetEmailResponse>(
            "tempinbox.inbox.v1.InboxService/GetEmail",
            [](const inbox::v1::GetEmailRequest& request) {
                if (request.email_id() != some_id)
                    return result<inbox::v1::GetEmailResponse>(
                        failure{errc::not_found, "Email does not exist"});
                inbox::v1::GetEmailResponse response;
                auto& email = *response.mutable_email()->mutable_summary();
                email.set_from("robot@sender.example");
                email.add_recipients("box+tag@example.org");
                email.add_to()->set_address("list@example.org");
                email.set_subject("Stored");
                return result<inbox::v1::GetEmailResponse>(response);
            });
        webhook_client_ = std::make_unique<webhook_client>(testing::test_host(), webhooks_.start(),
                                                           webhooks_.tokens());
        inbox_client_ = std::make_unique<inbox_client>(testing::test_host(), inboxes_.start(),
                                                       inboxes_.tokens());
    }

    using operation = awaitable<http::response> (*)(const http::request&, const caller&,
                                                    webhook_client&);
    http::response call(operation handle, const std::string& body)
    {
        http::request received;
        received.body = body;
        received.path_params = {{"ruleId", some_id}};
        return testing::await(handle(received, testing::premium_caller(), *webhook_client_));
    }
    http::response test(const std::string& body)
    {
        http::request received;
        received.body = body;
        return testing::await(
            test_rules(received, testing::premium_caller(), *webhook_client_, *inbox_client_));
    }

    std::optional<CreateRuleRequest> created;
    std::optional<UpdateRuleRequest> changed;
    std::optional<TestRulesRequest> tested;

private:
    template <class Request, class Response>
    void note(
        const std::string& method, std::optional<Request>& last_request,
        std::function<void(const Request&, Response&)> fill = [](const Request&, Response&) {})
    {
        webhooks_.response<Request, Response>("tempinbox.webhooks.v1.WebhookService/" + method,
                                              [&last_request, fill](const Request& request) {
                                                  last_request = request;
                                                  Response response;
                                                  fill(request, response);
                                                  return result<Response>(response);
                                              });
    }

    testing::fake_service webhooks_, inboxes_;
    std::unique_ptr<webhook_client> webhook_client_;
    std::unique_ptr<inbox_client> inbox_client_;
};

std::string message(const http::response& response)
{
    return json::value::parse(response.body).value()["message"].text();
}

std::string rule_body(const std::string& more)
{
    return R"({"name":"Bills","webhookId":")" + other_id + "\"" + more + "}";
}

std::string conditions(int count)
{
    std::string items;
    for (int i = 0; i < count; ++i)
        items += std::string(i == 0 ? "" : ",") +
                 R"({"field":"subject","operator":"contains","value":"x"})";
    return R"(,"conditions":[)" + items + "]";
}

} // namespace

TEST_CASE("a rule without conditions is an enabled catch-all", "[gateway][rules]")
{
    arranged_rules arranged;

    const auto response = arranged.call(create_rule, rule_body(""));

    CHECK(response.status == 201);
    REQUIRE(arranged.created);
    CHECK(arranged.created->name() == "Bills");
    CHECK(arranged.created->webhook_id() == other_id);
    CHECK(arranged.created->conditions_size() == 0);
    CHECK(arranged.created->is_enabled());
    CHECK(arranged.created->account().plan() == "premium");
    CHECK(http::find_header(response.headers, "Location")
              .value()
              .ends_with("/rules/" + arranged.created->rule_id()));
}

TEST_CASE("a rule's five conditions are sent on in order", "[gateway][rules]")
{
    arranged_rules arranged;

    arranged.call(
        create_rule,
        rule_body(conditions(4).substr(0, conditions(4).size() - 1) +
                  R"(,{"field":"to","operator":"ends_with","value":"Ü"}],"isEnabled":false)"));

    REQUIRE(arranged.created);
    REQUIRE(arranged.created->conditions_size() == 5);
    CHECK(arranged.created->conditions(4).field() == "to");
    CHECK(arranged.created->conditions(4).operator_() == "ends_with");
    CHECK(arranged.created->conditions(4).value() == "Ü");
    CHECK_FALSE(arranged.created->is_enabled());
}

TEST_CASE("a bad rule is 400, names the place, and goes no further", "[gateway][rules]")
{
    const std::string one = R"(,"conditions":[{)";
    const std::pair<std::string, const char*> rows[] = {
        {"", "name is required"},
        {"[]", "body must be a JSON object"},
        {R"({"name":"","webhookId":")" + other_id + "\"}", "name must have 1 to 100 characters"},
        {R"({"name":")" + std::string(101, 'x') + R"(","webhookId":")" + other_id + "\"}",
         "name must have 1 to 100 characters"},
        {R"({"name":"x"})", "webhookId is required"},
        {R"({"name":"x","webhookId":null})", "webhookId is required"},
        {R"({"name":"x","webhookId":"7"})", "webhookId must be a UUID"},
        {R"({"name":"x","webhookId":7})", "webhookId must be a string"},
        {rule_body(conditions(6)), "conditions must be an array of at most 5 objects"},
        {rule_body(R"(,"conditions":{})"), "conditions must be an array"},
        {rule_body(R"(,"conditions":["x"])"), "conditions[0] must be an object"},
        {rule_body(one + "}]"), "conditions[0].field is required"},
        {rule_body(one + R"("field":"body","operator":"equals","value":"x"}])"),
         "conditions[0].field must be one of subject"},
        {rule_body(one + R"("field":"Subject","operator":"equals","value":"x"}])"),
         "conditions[0].field must be one of"},
        {rule_body(one + R"("field":"to","operator":"regex","value":"x"}])"),
         "conditions[0].operator must be one of contains"},
        {rule_body(one + R"("field":"to","operator":"equals"}])"),
         "conditions[0].value is required"},
        {rule_body(one + R"("field":"to","operator":"equals","value":""}])"),
         "conditions[0].value must have 1 to 500"},
        {rule_body(one + R"("field":"to","operator":"equals","value":")" + std::string(501, 'x') +
                   "\"}]"),
         "conditions[0].value must have 1 to 500"},
        {rule_body(one + R"("field":"to","operator":"equals","value":"x","not":true}])"),
         "conditions[0].not is unknown here"},
        {rule_body(R"(,"isEnabled":"yes")"), "isEnabled must be true or false"},
        {rule_body(R"(,"id":"x")"), "id is unknown here"},
        {rule_body(R"(,"priority":1)"), "priority is unknown here"},
    };

    for (const auto& [body, named] : rows) {
        arranged_rules arranged;
        const auto response = arranged.call(create_rule, body);
        INFO(body << " gave " << response.body);
        CHECK(response.status == 400);
        CHECK(message(response).find(named) != std::string::npos);
        CHECK_FALSE(arranged.created);
    }
}

TEST_CASE("a change of a rule sends on what is given; null is refused", "[gateway][rules]")
{
    arranged_rules arranged;
    CHECK(arranged.call(update_rule, R"({"conditions":[]})").status == 200);
    REQUIRE(arranged.changed);
    CHECK(arranged.changed->rule_id() == some_id);
    CHECK(arranged.changed->has_conditions());
    CHECK(arranged.changed->conditions().conditions_size() == 0);
    CHECK_FALSE(arranged.changed->has_name());
    CHECK_FALSE(arranged.changed->has_is_enabled());

    for (const auto* field : {"name", "webhookId", "conditions", "isEnabled"}) {
        const auto response = arranged.call(update_rule, "{\"" + std::string(field) + "\":null}");
        CHECK(response.status == 400);
        CHECK(message(response).starts_with(std::string(field) + " cannot be removed"));
    }
    CHECK(message(arranged.call(update_rule, "{}")) ==
          "body must have at least one of name, webhookId, conditions, isEnabled");
    CHECK(message(arranged.call(update_rule, R"({"createdAt":"x"})"))
              .starts_with("createdAt is unknown"));
}

TEST_CASE("a mail is tested by its fields, one recipient or several", "[gateway][rules]")
{
    arranged_rules arranged;

    CHECK(arranged.test(R"({"from":"a@b.example","to":"box@example.org","subject":"Hi"})").status ==
          200);
    REQUIRE(arranged.tested);
    CHECK(arranged.tested->from() == "a@b.example");
    REQUIRE(arranged.tested->to_size() == 1);
    CHECK(arranged.tested->to(0) == "box@example.org");
    CHECK(arranged.tested->subject() == "Hi");
    CHECK_FALSE(arranged.tested->has_rules());

    arranged.test(R"({"to":["a@example.org","b@example.org"]})");
    CHECK(arranged.tested->to_size() == 2);
    CHECK(arranged.tested->subject().empty());
}

TEST_CASE("a stored email is tested as the dispatcher saw it", "[gateway][rules]")
{
    arranged_rules arranged;

    CHECK(arranged.test(R"({"emailId":")" + some_id + "\"}").status == 200);
    REQUIRE(arranged.tested);
    CHECK(arranged.tested->from() == "robot@sender.example");
    CHECK(arranged.tested->to(0) == "box+tag@example.org");
    CHECK(arranged.tested->subject() == "Stored");

    CHECK(arranged.test(R"({"emailId":")" + other_id + "\"}").status == 404);
}

TEST_CASE("unsaved rules are tested with what is known of them", "[gateway][rules]")
{
    arranged_rules arranged;

    arranged.test(
        R"({"subject":"x","rules":[{},{"id":")" + some_id + R"(","name":"n","webhookId":")" +
        other_id +
        R"(","conditions":[{"field":"from","operator":"equals","value":"y"}],"isEnabled":false}]})");

    REQUIRE(arranged.tested);
    REQUIRE(arranged.tested->rules().rules_size() == 2);
    CHECK(arranged.tested->rules().rules(0).is_enabled());
    CHECK(arranged.tested->rules().rules(0).rule_id().empty());
    CHECK(arranged.tested->rules().rules(1).rule_id() == some_id);
    CHECK(arranged.tested->rules().rules(1).conditions(0).value() == "y");
    CHECK_FALSE(arranged.tested->rules().rules(1).is_enabled());

    arranged.test(R"({"subject":"x","rules":[]})");
    CHECK(arranged.tested->has_rules());
}

TEST_CASE("a wrong test is 400, names the place, and goes no further", "[gateway][rules]")
{
    const std::pair<std::string, const char*> rows[] = {
        {"", "emailId or at least one of from, to, subject"},
        {R"({"emailId":"7"})", "emailId must be a UUID"},
        {R"({"emailId":")" + some_id + R"(","subject":"x"})", "not both"},
        {R"({"to":7})", "to must be an array"},
        {R"({"to":[""]})", "to[0] must have"},
        {R"({"body":"x","subject":"y"})", "body is unknown here"},
        {R"({"subject":"x","rules":{}})", "rules must be an array"},
        {R"({"subject":"x","rules":[7]})", "rules[0] must be an object"},
        {R"({"subject":"x","rules":[{},{"id":"7"}]})", "rules[1].id must be a UUID"},
        {R"({"subject":"x","rules":[{"webhookId":"7"}]})", "rules[0].webhookId must be a UUID"},
        {R"({"subject":"x","rules":[{"conditions":[{"field":"x"}]}]})",
         "rules[0].conditions[0].field must be one of"},
        {R"({"subject":"x","rules":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]})",
         "at most 20"},
        {R"({"subject":"x","rules":[{"extra":1}]})", "rules[0].extra is unknown here"},
    };

    for (const auto& [body, named] : rows) {
        arranged_rules arranged;
        const auto response = arranged.test(body);
        INFO(body << " gave " << response.body);
        CHECK(response.status == 400);
        CHECK(message(response).find(named) != std::string::npos);
        CHECK_FALSE(arranged.tested);
    }
}
