#include "gateway/resources/inbox_changes.hpp"

#include "common/json/value.hpp"
#include "gateway/resources/emails.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace inbox::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

// Handlers against an inbox service that records its requests.
class arranged_changes
{
public:
    arranged_changes()
    {
        note<UpdateInboxRequest, UpdateInboxResponse>("UpdateInbox", changed);
        note<DeleteInboxesByTagRequest, DeleteInboxesByTagResponse>("DeleteInboxesByTag", tagged);
        note<ListEmailsRequest, ListEmailsResponse>("ListEmails", listed);
        note<UpdateEmailRequest, UpdateEmailResponse>("UpdateEmail", marked);
        client_ = std::make_unique<inbox_client>(testing::test_host(), service_.start(),
                                                 service_.tokens());
    }

    using operation = awaitable<http::response> (*)(const http::request&, const caller&,
                                                    inbox_client&);
    http::response call(operation handle, const std::string& body,
                        std::vector<std::pair<std::string, std::string>> query = {})
    {
        http::request received;
        received.body = body;
        received.query = std::move(query);
        received.path_params = {{"inboxId", some_id}, {"emailId", some_id}};
        return testing::await(handle(received, who, *client_));
    }
    http::response list(std::vector<std::pair<std::string, std::string>> query)
    {
        http::request received;
        received.query = std::move(query);
        received.path_params = {{"inboxId", some_id}};
        list_cache lists(testing::test_host(), 0, std::chrono::seconds(1), *client_);
        return testing::await(list_inbox_emails(received, who, *client_, lists, memory_));
    }
    http::response list_all(std::vector<std::pair<std::string, std::string>> query)
    {
        http::request received;
        received.query = std::move(query);
        return testing::await(list_emails(received, who, *client_, memory_));
    }
    http::response patch(const std::string& body)
    {
        http::request received;
        received.body = body;
        received.path_params = {{"inboxId", some_id}};
        return testing::await(update_inbox(received, who, *client_, no_captures_));
    }

    caller who = testing::premium_caller();
    std::optional<UpdateInboxRequest> changed;
    std::optional<DeleteInboxesByTagRequest> tagged;
    std::optional<ListEmailsRequest> listed;
    std::optional<UpdateEmailRequest> marked;

private:
    template <class Request, class Response>
    void note(const std::string& method, std::optional<Request>& last_request)
    {
        service_.response<Request, Response>("tempinbox.inbox.v1.InboxService/" + method,
                                             [&last_request](const Request& request) {
                                                 last_request = request;
                                                 return result<Response>(Response());
                                             });
    }

    testing::fake_service service_;
    std::unique_ptr<inbox_client> client_;
    response_budget memory_{1'000'000};
    capture_server no_captures_;
};

std::string message(const http::response& response)
{
    return json::value::parse(response.body).value()["message"].text();
}

} // namespace

TEST_CASE("a merge patch says what changes and what goes", "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    const auto response = arranged.patch(
        R"({"ttlSeconds":3600,"name":"CI","tags":["a"],"metadata":{"run":"7","branch":null}})");

    CHECK(response.status == 200);
    REQUIRE(arranged.changed);
    const auto& request = *arranged.changed;
    CHECK(request.account().account_id() == arranged.who.account().text());
    CHECK(request.inbox_id() == some_id);
    CHECK(request.ttl_seconds() == 3'600);
    CHECK(request.name() == "CI");
    CHECK(request.tags().tags_size() == 1);
    CHECK(request.metadata().values().at("run") == "7");
    CHECK(request.metadata().removed(0) == "branch");
    CHECK_FALSE(request.metadata().remove_all());
}

TEST_CASE("how mail is kept can be changed in part, and be as it is by default",
          "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    arranged.patch(R"({"retention":{"maxAgeSeconds":3600}})");
    const auto age = arranged.changed.value().retention();
    arranged.patch(R"({"retention":{"maxAgeSeconds":null,"whenFull":"dropOldest"}})");
    const auto both = arranged.changed.value().retention();
    arranged.patch(R"({"retention":null})");
    const auto none = arranged.changed.value().retention();
    arranged.patch(R"({"name":"CI"})");

    CHECK(age.max_age_seconds() == 3'600);
    CHECK(age.when_full() == WHEN_FULL_UNSPECIFIED);
    CHECK_FALSE(age.reset());
    CHECK(both.has_max_age_seconds());
    CHECK(both.max_age_seconds() == 0);
    CHECK(both.when_full() == WHEN_FULL_DROP_OLDEST);
    CHECK(none.reset());
    CHECK_FALSE(none.has_max_age_seconds());
    CHECK_FALSE(arranged.changed.value().has_retention());
}

TEST_CASE("whether an inbox is renewed can be changed, and is true or false",
          "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    arranged.patch(R"({"renewOnUse":true})");
    const auto on = arranged.changed.value();
    arranged.patch(R"({"renewOnUse":false})");
    const auto off = arranged.changed.value();
    arranged.patch(R"({"name":"CI"})");
    const auto absent = arranged.changed.value();

    CHECK(on.renew_on_use());
    CHECK(off.has_renew_on_use());
    CHECK_FALSE(off.renew_on_use());
    CHECK_FALSE(absent.has_renew_on_use());
    CHECK(message(arranged.patch(R"({"renewOnUse":null})")) ==
          "renewOnUse must be true or false, not null");
    CHECK(message(arranged.patch(R"({"renewOnUse":1})")) ==
          "renewOnUse must be true or false, not 1");
}

TEST_CASE("a bad retention is refused with the field and what is allowed",
          "[gateway][inbox-changes]")
{
    const auto [body, error] = GENERATE(table<std::string, std::string>({
        {R"({"retention":7})", "retention must be an object, not 7"},
        {R"({"retention":{"maxAgeSeconds":59}})",
         "retention.maxAgeSeconds must be an integer from 60 to 31622400, not 59"},
        {R"({"retention":{"whenFull":"drop"}})",
         "retention.whenFull must be one of refuse, dropOldest, not \"drop\""},
        {R"({"retention":{"age":1}})",
         "retention.age is unknown here; known are maxAgeSeconds, whenFull"},
    }));
    arranged_changes arranged;

    const auto response = arranged.patch(body);

    CHECK(response.status == 400);
    CHECK(message(response) == error);
    CHECK_FALSE(arranged.changed);
}

TEST_CASE("null takes name, tags and metadata away, and what is absent stays",
          "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    arranged.patch(R"({"name":null,"tags":null,"metadata":null})");
    REQUIRE(arranged.changed);
    const auto all = *arranged.changed;
    arranged.patch(R"({"name":"CI"})");

    CHECK(all.has_name());
    CHECK(all.name().empty());
    CHECK(all.has_tags());
    CHECK(all.metadata().remove_all());
    CHECK_FALSE(arranged.changed->has_tags());
    CHECK_FALSE(arranged.changed->has_metadata());
    CHECK_FALSE(arranged.changed->has_ttl_seconds());
}

TEST_CASE("a key with a tag keeps it on the inboxes that it changes",
          "[gateway][inbox-changes][key-access]")
{
    arranged_changes arranged;
    arranged.who.access.tag = "ci";

    for (const std::string body : {R"({"tags":null})", R"({"tags":[]})", R"({"tags":["other"]})"}) {
        const auto refused = arranged.patch(body);
        CHECK(refused.status == 400);
        CHECK(message(refused) == "tags must have \"ci\", the tag of this API key");
    }
    CHECK_FALSE(arranged.changed);
    CHECK(arranged.patch(R"({"tags":["other","ci"]})").status == 200);
    CHECK(arranged.changed->tags().tags_size() == 2);
    CHECK(arranged.patch(R"({"name":"CI"})").status == 200);
    CHECK_FALSE(arranged.changed->has_tags());
}

TEST_CASE("a bad change is 400, names the field, and goes no further", "[gateway][inbox-changes]")
{
    struct row
    {
        const char* body;
        const char* named;
    };
    const row rows[] = {
        {"", "ttlSeconds, name, tags, metadata"},
        {"{}", "ttlSeconds, name, tags, metadata"},
        {"[]", "object"},
        {R"({"localPart":"x"})", "localPart"},
        {R"({"ttlSeconds":null})", "ttlSeconds"},
        {R"({"ttlSeconds":59})", "ttlSeconds must be an integer from 60 to 2592000"},
        {R"({"name":""})", "name"},
        {R"({"tags":[1]})", "tags[0]"},
        {R"({"metadata":{"a":1}})", "metadata.a"},
    };
    for (const auto& [body, named] : rows) {
        arranged_changes arranged;
        const auto response = arranged.patch(body);
        INFO(body);
        CHECK(response.status == 400);
        CHECK(message(response).find(named) != std::string::npos);
        CHECK_FALSE(arranged.changed);
    }
}

TEST_CASE("ending inboxes together needs a tag", "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    CHECK(arranged.call(delete_tagged_inboxes, "").status == 400);
    CHECK(arranged.call(delete_tagged_inboxes, "", {{"tag", ""}}).status == 400);
    CHECK(arranged.call(delete_tagged_inboxes, "", {{"tag", "a"}, {"tag", "b"}}).status == 400);
    CHECK_FALSE(arranged.tagged);
    CHECK(arranged.call(delete_tagged_inboxes, "", {{"tag", "run 7"}}).body ==
          R"({"deletedCount":0})");
    CHECK(arranged.tagged->tag() == "run 7");
}

TEST_CASE("lists of emails pass their conditions on", "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    arranged.list(
        {{"from", "a"}, {"to", "b"}, {"subject", "c"}, {"include", "codes, text"}, {"after", "4"}});
    REQUIRE(arranged.listed);
    const auto of_inbox = *arranged.listed;
    arranged.list_all({{"subject", "c"}, {"tag", "run"}});

    CHECK(of_inbox.inbox_id() == some_id);
    CHECK(of_inbox.filter().from() == "a");
    CHECK(of_inbox.filter().to() == "b");
    CHECK(of_inbox.filter().subject() == "c");
    CHECK(of_inbox.after() == 4);
    CHECK(of_inbox.include_text());
    CHECK(arranged.listed->inbox_id().empty());
    CHECK(arranged.listed->tag() == "run");
    CHECK(arranged.list({{"tag", "run"}}).status == 400);
    CHECK_FALSE(arranged.listed->include_text());
    CHECK_FALSE(arranged.listed->include_links());
    CHECK(arranged.list_all({{"include", "links"}}).status == 200);
    CHECK(arranged.listed->include_links());
    CHECK(arranged.listed->omit_codes());
    CHECK(message(arranged.list_all({{"after", "4"}})) ==
          "after belongs to one inbox; follow an account with GET /v1/events");
    CHECK(arranged.list_all({{"include", "html"}}).status == 400);
    CHECK(arranged.list_all({{"from", ""}}).status == 400);
}

TEST_CASE("an email is marked with true or false, nothing else", "[gateway][inbox-changes]")
{
    arranged_changes arranged;

    for (const char* body :
         {"", "{}", R"({"isRead":null})", R"({"isRead":1})", R"({"isRead":true,"subject":"x"})"})
        CHECK(arranged.call(update_email, body).status == 400);
    CHECK_FALSE(arranged.marked);
    CHECK(arranged.call(update_email, R"({"isRead":false})").status == 200);
    CHECK(arranged.marked->has_is_read());
}
