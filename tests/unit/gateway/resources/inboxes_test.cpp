#include "gateway/resources/inboxes.hpp"

#include "common/credentials/capture_login.hpp"
#include "common/http/client.hpp"
#include "common/json/value.hpp"
#include "gateway/resources/emails.hpp"
#include "unit/gateway/resources/operations_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <set>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace inbox::v1;

namespace {

const std::string some_id = "01934f2e-7b1c-7d3a-9f00-5a1b2c3d4e5f";

// Handlers against an inbox service on loopback that records its requests; a test sets its
// responses.
class arranged_inboxes
{
public:
    arranged_inboxes()
    {
        service_.response<CreateInboxRequest, CreateInboxResponse>(
            "tempinbox.inbox.v1.InboxService/CreateInbox",
            [this](const CreateInboxRequest& request) { return create(request); });
        service_.response<ListInboxesRequest, ListInboxesResponse>(
            "tempinbox.inbox.v1.InboxService/ListInboxes",
            [this](const ListInboxesRequest& request) {
                listed = request;
                return result<ListInboxesResponse>(ListInboxesResponse());
            });
        service_.response<GetInboxRequest, GetInboxResponse>(
            "tempinbox.inbox.v1.InboxService/GetInbox", [](const GetInboxRequest&) {
                GetInboxResponse response;
                response.mutable_inbox()->set_is_full(true);
                return result<GetInboxResponse>(response);
            });
        service_.response<ListEmailsRequest, ListEmailsResponse>(
            "tempinbox.inbox.v1.InboxService/ListEmails", [this](const ListEmailsRequest& request) {
                listed_emails = request;
                return result<ListEmailsResponse>(ListEmailsResponse());
            });
        service_.response<DeleteInboxRequest, DeleteInboxResponse>(
            "tempinbox.inbox.v1.InboxService/DeleteInbox",
            [](const DeleteInboxRequest& request) -> result<DeleteInboxResponse> {
                if (request.inbox_id() == some_id)
                    return DeleteInboxResponse();
                return failure{errc::not_found, "Inbox does not exist"};
            });
        client = std::make_unique<inbox_client>(testing::test_host(), service_.start(),
                                                service_.tokens());
    }

    http::response post(const std::string& body,
                        std::vector<std::pair<std::string, std::string>> query = {})
    {
        http::request received;
        received.method = "POST";
        received.body = body;
        received.query = std::move(query);
        return testing::await(create_inbox(received, who, *client, server));
    }

    http::response list(const http::request& received)
    {
        return testing::await(list_inboxes(received, who, *client, server));
    }
    http::response list_all_emails(const http::request& received)
    {
        return testing::await(list_emails(received, who, *client, memory));
    }

    caller who = testing::premium_caller();
    response_budget memory{1'000'000};
    capture_server server{"smtp.x.test", {587}, {465}, {}};
    std::optional<failure> refusal;
    std::optional<CreateInboxRequest> created;
    ListInboxesRequest listed;
    ListEmailsRequest listed_emails;

private:
    result<CreateInboxResponse> create(const CreateInboxRequest& request)
    {
        created = request;
        if (refusal)
            return *refusal;
        CreateInboxResponse response;
        response.mutable_inbox()->set_inbox_id(request.inbox_id());
        if (request.has_login())
            response.mutable_inbox()->mutable_login()->set_user("cap_a1");
        return response;
    }

    testing::fake_service service_;

public:
    std::unique_ptr<inbox_client> client;
};

std::string message(const http::response& response)
{
    return json::value::parse(response.body).value()["message"].text();
}

http::request get(std::vector<std::pair<std::string, std::string>> query)
{
    http::request received;
    received.method = "GET";
    received.query = std::move(query);
    received.path_params.emplace_back("inboxId", some_id);
    return received;
}

} // namespace

TEST_CASE("a new inbox can say how it keeps mail", "[gateway][inboxes]")
{
    arranged_inboxes arranged;

    const auto response =
        arranged.post(R"({"retention":{"maxAgeSeconds":86400,"whenFull":"dropOldest"}})");
    const auto chosen = arranged.created.value().retention();
    const auto refused = arranged.post(R"({"retention":{"maxAgeSeconds":"day"}})");
    arranged.post("{}");

    CHECK(response.status == 201);
    CHECK(chosen.max_age_seconds() == 86'400);
    CHECK(chosen.when_full() == WHEN_FULL_DROP_OLDEST);
    CHECK(message(refused) ==
          "retention.maxAgeSeconds must be an integer from 60 to 31622400, not \"day\"");
    CHECK_FALSE(arranged.created.value().has_retention());
}

TEST_CASE("an empty body makes an inbox with everything chosen for it", "[gateway][inboxes]")
{
    arranged_inboxes arranged;

    const auto response = arranged.post("");

    REQUIRE(arranged.created);
    const auto& request = *arranged.created;
    CHECK(response.status == 201);
    CHECK(http::find_header(response.headers, "Location") == "/v1/inboxes/" + request.inbox_id());
    CHECK(uuid::parse(request.inbox_id())->version() == 7);
    CHECK(request.account().account_id() == arranged.who.account().text());
    CHECK(request.account().plan() == "premium");
    CHECK(request.account().version() == 7);
    CHECK_FALSE(request.has_local_part());
    CHECK_FALSE(request.has_domain());
    CHECK_FALSE(request.has_ttl_seconds());
}

TEST_CASE("only the dashboard gets whether an inbox is full", "[gateway][inboxes]")
{
    arranged_inboxes arranged;
    const auto received = get({});
    const auto shows_fullness = [&] {
        const auto response =
            testing::await(get_inbox(received, arranged.who, *arranged.client, arranged.server));
        return response.body.find(R"("isFull":true)") != std::string::npos;
    };

    CHECK_FALSE(shows_fullness());
    arranged.who.is_dashboard = true;
    CHECK(shows_fullness());
}

TEST_CASE("every field of the body reaches the inbox service", "[gateway][inboxes]")
{
    arranged_inboxes arranged;

    arranged.post(
        R"({"localPart":"Sign-Up","domain":"x.test","ttlSeconds":2592000,"name":"CI","tags":["a","b"],"metadata":{"run":"7"}})");

    REQUIRE(arranged.created);
    const auto& request = *arranged.created;
    CHECK(request.local_part() == "Sign-Up");
    CHECK(request.domain() == "x.test");
    CHECK(request.ttl_seconds() == 2'592'000);
    CHECK(request.name() == "CI");
    CHECK(request.tags_size() == 2);
    CHECK(request.metadata().at("run") == "7");
}

TEST_CASE("a capture gets a password, of which the inbox service learns the digest alone",
          "[gateway][inboxes]")
{
    arranged_inboxes arranged;

    const auto response = arranged.post(R"({"capture":true})");

    const auto capture = json::value::parse(response.body).value()["capture"];
    const auto password = capture["password"].text();
    CHECK(response.status == 201);
    CHECK(credentials::is_capture_password(password));
    CHECK(capture["url"].text() == "smtps://cap_a1:" + password + "@smtp.x.test:465");
    REQUIRE(arranged.created);
    CHECK(arranged.created->login().password_sha256() ==
          credentials::capture_password_digest(password));
    CHECK(arranged.created->login().login_id() == arranged.created->inbox_id());
    CHECK(arranged.created->DebugString().find(password) == std::string::npos);
}

TEST_CASE("without capture there is no login", "[gateway][inboxes]")
{
    arranged_inboxes arranged;

    for (const char* body : {"", R"({"capture":false})", R"({"capture":null})"}) {
        const auto response = arranged.post(body);
        CHECK(json::value::parse(response.body).value()["capture"].is_null());
        CHECK_FALSE(arranged.created->has_login());
    }
}

TEST_CASE("where the operator takes no such mail, a capture is 400 and names the settings",
          "[gateway][inboxes]")
{
    arranged_inboxes arranged;
    arranged.server = {};

    const auto response = arranged.post(R"({"capture":true})");

    CHECK(response.status == 400);
    for (const char* name :
         {"capture-host", "capture-starttls-ports", "capture-tls-ports", "capture-clear-ports"})
        CHECK_THAT(message(response), Catch::Contains(name));
    CHECK_FALSE(arranged.created);
    CHECK(arranged.post(R"({"capture":false})").status == 201);
}

TEST_CASE("a bad body is 400, names the field, and goes no further", "[gateway][inboxes]")
{
    struct row
    {
        const char* body;
        const char* named;
    };
    const row rows[] = {
        {"{", "JSON"},
        {"[]", "object"},
        {R"({"ttl":5})", "ttl"},
        {R"({"ttlSeconds":59})", "ttlSeconds must be an integer from 60 to 2592000"},
        {R"({"ttlSeconds":2592001})", "ttlSeconds"},
        {R"({"ttlSeconds":"60"})", "ttlSeconds"},
        {R"({"ttlSeconds":60.5})", "ttlSeconds"},
        {R"({"capture":"yes"})", "capture"},
        {R"({"localPart":""})", "localPart"},
        {R"({"localPart":7})", "localPart"},
        {R"({"domain":[]})", "domain"},
        {R"({"name":""})", "name"},
        {R"({"name":"a\u0000b"})", "name"},
        {R"({"tags":"a"})", "tags"},
        {R"({"tags":[""]})", "tags"},
        {R"({"tags":["1","2","3","4","5","6","7","8","9","10","11"]})", "tags"},
        {R"({"metadata":{"a":1}})", "metadata"},
        {R"({"metadata":[]})", "metadata"},
        {R"({"name":"a","name":"b"})", "name"},
    };

    for (const auto& row : rows) {
        arranged_inboxes arranged;
        const auto response = arranged.post(row.body);
        INFO(row.body << " gave " << response.body);
        CHECK(response.status == 400);
        CHECK(message(response).find(row.named) != std::string::npos);
        CHECK_FALSE(arranged.created);
    }
    arranged_inboxes arranged;
    CHECK(arranged.post("{}", {{"dry", "1"}}).status == 400);
}

TEST_CASE("what the inbox service refuses keeps its status and sentence", "[gateway][inboxes]")
{
    struct row
    {
        errc code;
        unsigned status;
    };
    for (const auto& row : {row{errc::conflict, 409}, row{errc::permission_denied, 403},
                            row{errc::invalid_argument, 400}}) {
        arranged_inboxes arranged;
        arranged.refusal = failure{row.code, "Because it is so"};
        const auto response = arranged.post("{}");
        CHECK(response.status == row.status);
        CHECK(message(response) == "Because it is so");
    }
}

TEST_CASE("what concerns only the suite is hidden from the caller", "[gateway][inboxes]")
{
    struct row
    {
        errc code;
        unsigned status;
    };
    for (const auto& row :
         {row{errc::unavailable, 503}, row{errc::internal, 500}, row{errc::unauthenticated, 503}}) {
        arranged_inboxes arranged;
        arranged.refusal = failure{row.code, "10.0.0.1 said no"};
        const auto response = arranged.post("{}");
        CHECK(response.status == row.status);
        CHECK(response.body.find("10.0.0.1") == std::string::npos);
    }
}

TEST_CASE("an inbox service that is away is 503 with Retry-After", "[gateway][inboxes]")
{
    arranged_inboxes arranged;
    testing::scratch_folder folder;
    rpc::tokens tokens(folder.write("tokens", "a-token-for-the-unit-tests\n"));
    inbox_client nobody(testing::test_host(), {host_port("127.0.0.1", 1)}, tokens);
    http::request received;

    const auto response =
        testing::await(create_inbox(received, arranged.who, nobody, arranged.server));

    CHECK(response.status == 503);
    CHECK(http::find_header(response.headers, "Retry-After") == "1");
}

TEST_CASE("lists pass their filters on", "[gateway][inboxes]")
{
    arranged_inboxes arranged;

    const auto plain =
        testing::await(list_inboxes(get({}), arranged.who, *arranged.client, arranged.server));
    CHECK(plain.status == 200);
    CHECK(arranged.listed.status() == INBOX_STATUS_ACTIVE);
    CHECK(arranged.listed.limit() == 25);
    CHECK_FALSE(arranged.listed.has_tag());
    CHECK_FALSE(arranged.listed.oldest_first());

    const auto received = get({{"status", "all"},
                               {"tag", "ci"},
                               {"address", "a@x.test"},
                               {"limit", "3"},
                               {"cursor", "c"},
                               {"order", "asc"}});
    testing::await(list_inboxes(received, arranged.who, *arranged.client, arranged.server));
    CHECK(arranged.listed.status() == INBOX_STATUS_UNSPECIFIED);
    CHECK(arranged.listed.tag() == "ci");
    CHECK(arranged.listed.address() == "a@x.test");
    CHECK(arranged.listed.limit() == 3);
    CHECK(arranged.listed.cursor() == "c");
    CHECK(arranged.listed.oldest_first());
    CHECK(arranged.listed.account_id() == arranged.who.account().text());

    const auto emails = get({{"after", "12"}, {"limit", "1"}, {"order", "asc"}});
    list_cache lists(testing::test_host(), 0, std::chrono::seconds(1), *arranged.client);
    testing::await(
        list_inbox_emails(emails, arranged.who, *arranged.client, lists, arranged.memory));
    CHECK(arranged.listed_emails.inbox_id() == some_id);
    CHECK(arranged.listed_emails.after() == 12);
    CHECK(arranged.listed_emails.limit() == 1);
    CHECK(arranged.listed_emails.oldest_first());
}

TEST_CASE("ids in paths must be UUIDs, and unknown ones are 404", "[gateway][inboxes]")
{
    arranged_inboxes arranged;
    auto received = get({});
    const auto deleted = testing::await(delete_inbox(received, arranged.who, *arranged.client));
    received.path_params.front().second = uuid::make_v7().text();
    const auto missing = testing::await(delete_inbox(received, arranged.who, *arranged.client));
    received.path_params.front().second = "7";
    const auto bad = testing::await(delete_inbox(received, arranged.who, *arranged.client));

    CHECK(deleted.body == R"({"inboxId":")" + some_id + R"(","deleted":true})");
    CHECK(missing.status == 404);
    CHECK(bad.status == 400);
    CHECK(message(bad).starts_with("inboxId must be a UUID"));
}

namespace {

awaitable<void> create_into(const caller& who, inbox_client& inboxes,
                            std::vector<unsigned>& statuses)
{
    http::request received;
    received.method = "POST";
    received.body = "{}";
    const capture_server no_captures;
    const auto response = co_await create_inbox(received, who, inboxes, no_captures);
    statuses.push_back(response.status);
}

} // namespace

TEST_CASE("inboxes that are created at the same time are asked for in one request",
          "[gateway][create]")
{
    testing::fake_service service;
    std::size_t created = 0;
    service.response<CreateInboxRequest, CreateInboxResponse>(
        "tempinbox.inbox.v1.InboxService/CreateInbox",
        [&](const CreateInboxRequest& request) -> result<CreateInboxResponse> {
            if (++created == 2)
                return failure{errc::permission_denied, "All live inboxes are used"};
            CreateInboxResponse response;
            response.mutable_inbox()->set_inbox_id(request.inbox_id());
            return response;
        });
    const auto replicas = service.start();
    http::client connections(testing::test_host(), {});
    std::size_t requests = 0;
    rpc::client_settings counted;
    counted.send = [&](http::client_request outgoing) {
        ++requests;
        return connections.send(std::move(outgoing));
    };
    inbox_client inboxes(testing::test_host(), replicas, service.tokens(), counted);
    const auto who = testing::premium_caller();
    std::vector<unsigned> statuses;

    for (int i = 0; i < 10; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), create_into(who, inboxes, statuses),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return statuses.size() == 10; }));

    CHECK(requests == 1);
    CHECK(created == 10);
    CHECK(std::count(statuses.begin(), statuses.end(), 201U) == 9);
    CHECK(std::count(statuses.begin(), statuses.end(), 403U) == 1);
}

TEST_CASE("a key with a tag gives it to every inbox that it makes, once",
          "[gateway][inboxes][key-access]")
{
    arranged_inboxes arranged;
    arranged.who.access.tag = "ci";
    const auto tags_after = [&](const std::string& body) {
        CHECK(arranged.post(body).status == 201);
        return std::vector<std::string>(arranged.created->tags().begin(),
                                        arranged.created->tags().end());
    };

    CHECK(tags_after("{}") == std::vector<std::string>{"ci"});
    CHECK(tags_after(R"({"tags":["a"]})") == std::vector<std::string>{"a", "ci"});
    CHECK(tags_after(R"({"tags":["ci","a"]})") == std::vector<std::string>{"ci", "a"});
    CHECK(tags_after(R"({"tags":["1","2","3","4","5","6","7","8","9"]})").size() == 10);
    const auto full = arranged.post(R"({"tags":["0","1","2","3","4","5","6","7","8","9"]})");

    CHECK(full.status == 400);
    CHECK(full.body.find("tags must have at most 9 items beside \\\"ci\\\"") != std::string::npos);
}

TEST_CASE("lists of a key with a tag name the tag in place of the account",
          "[gateway][inboxes][key-access]")
{
    arranged_inboxes arranged;
    arranged.who.access.tag = "ci";
    http::request received;
    received.method = "GET";
    received.query.emplace_back("tag", "other");

    CHECK(arranged.list(received).status == 200);
    received.query.clear();
    CHECK(arranged.list_all_emails(received).status == 200);

    CHECK(arranged.listed.tag() == "other");
    CHECK(arranged.listed.account_id().empty());
    CHECK(arranged.listed.tagged_account().tag() == "ci");
    CHECK(arranged.listed.tagged_account().account_id() == arranged.who.account().text());
    CHECK(arranged.listed_emails.account_id().empty());
    CHECK(arranged.listed_emails.tagged_account().tag() == "ci");
}

namespace {

// A batch against an inbox service that has room for some.
class arranged_batch
{
public:
    arranged_batch()
    {
        service_.response<CreateInboxRequest, CreateInboxResponse>(
            "tempinbox.inbox.v1.InboxService/CreateInbox",
            [this](const CreateInboxRequest& request) { return create(request); });
        rpc::client_settings counted;
        counted.send = [this](http::client_request outgoing) {
            ++calls;
            return connections_.send(std::move(outgoing));
        };
        client_ = std::make_unique<inbox_client>(testing::test_host(), service_.start(),
                                                 service_.tokens(), counted);
        who.add_to_burst = [this](std::size_t count) { added_to_burst += count; };
    }

    http::response post(const std::string& body)
    {
        http::request received;
        received.method = "POST";
        received.body = body;
        return testing::await(create_inboxes(received, who, *client_, server));
    }
    http::response check(const std::string& body)
    {
        http::request received;
        received.body = body;
        return testing::await(check_new_inboxes(received, who, *client_, server));
    }

    caller who = testing::premium_caller();
    std::size_t room = 100;
    std::optional<failure> failure_past_room;
    std::vector<CreateInboxRequest> created;
    std::size_t calls = 0;
    std::size_t added_to_burst = 0;

private:
    result<CreateInboxResponse> create(const CreateInboxRequest& request)
    {
        if (created.size() >= room)
            return failure_past_room.value_or(failure{
                errc::permission_denied, "All inboxes are used", error_reason::inbox_limit});
        created.push_back(request);
        CreateInboxResponse response;
        response.mutable_inbox()->set_inbox_id(request.inbox_id());
        return response;
    }

    testing::fake_service service_;
    http::client connections_{testing::test_host(), {}};
    capture_server server{"smtp.x.test", {587}, {465}, {}};
    std::unique_ptr<inbox_client> client_;
};

std::string batch_of(std::size_t count)
{
    std::string items;
    for (std::size_t i = 0; i < count; ++i)
        items += (i == 0 ? "{" : ",{") + std::string("\"name\":\"n") + std::to_string(i) + "\"}";
    return "{\"inboxes\":[" + items + "]}";
}

std::vector<std::string> ids_of(const std::vector<CreateInboxRequest>& requests)
{
    std::vector<std::string> ids;
    for (const auto& each : requests)
        ids.push_back(each.inbox_id());
    return ids;
}

} // namespace

TEST_CASE("a batch of a hundred inboxes is created by two calls, each for itself",
          "[gateway][inboxes]")
{
    arranged_batch arranged;
    arranged.room = 99;

    const auto response = arranged.post(batch_of(100));

    REQUIRE(response.status == 200);
    const auto results = json::value::parse(response.body).value()["results"];
    REQUIRE(results.size() == 100);
    for (std::size_t i = 0; i < 99; ++i) {
        CHECK(results[i]["inbox"]["inboxId"].text() == arranged.created[i].inbox_id());
        CHECK(arranged.created[i].name() == "n" + std::to_string(i));
        CHECK(results[i]["error"].is_null());
    }
    CHECK(results[99]["inbox"].is_null());
    CHECK(
        results[99]["error"].to_string() ==
        R"({"statusCode":403,"error":"Forbidden","message":"All inboxes are used","code":"inbox_limit"})");
    CHECK(arranged.calls == 2);
    CHECK(arranged.added_to_burst == 99);
}

TEST_CASE("the ids of a batch differ, are in its order, and follow from its own",
          "[gateway][inboxes]")
{
    arranged_batch arranged;
    arranged.who.chosen_id = uuid::make_v7();
    arranged.post(batch_of(100));
    const auto first = ids_of(std::exchange(arranged.created, {}));
    arranged.post(batch_of(100));
    const auto again = ids_of(std::exchange(arranged.created, {}));
    arranged.who.chosen_id = uuid::make_v7();
    arranged.post(batch_of(1));

    CHECK(first == again);
    CHECK(std::is_sorted(first.begin(), first.end()));
    CHECK(std::set<std::string>(first.begin(), first.end()).size() == 100);
    CHECK(std::find(first.begin(), first.end(), arranged.created[0].inbox_id()) == first.end());
    const auto parsed = uuid::parse(first[99]);
    REQUIRE(parsed);
    CHECK(parsed->version() == 7);
}

TEST_CASE("a batch of which something is not known is 503, so that its repeat finds it out",
          "[gateway][inboxes]")
{
    arranged_batch arranged;
    arranged.room = 2;
    arranged.failure_past_room = failure{errc::unavailable, "PostgreSQL is away"};

    const auto response = arranged.post(batch_of(3));

    CHECK(response.status == 503);
    CHECK(arranged.created.size() == 2);
}

TEST_CASE("what is wrong with one inbox of a batch refuses all, by its place", "[gateway][inboxes]")
{
    arranged_batch arranged;
    const std::vector<std::pair<std::string, std::string>> bad{
        {"", "inboxes must be an array of 1 to 100 objects"},
        {R"({"inboxes":[]})", "inboxes must be an array of 1 to 100 objects"},
        {batch_of(101), "inboxes must be an array of at most 100 objects, not of 101"},
        {R"({"inboxes":{}})", "inboxes must be an array"},
        {R"({"inboxes":[{},3]})", "inboxes[1] must be an object"},
        {R"({"inboxes":[{},{"ttlSeconds":1}]})", "inboxes[1].ttlSeconds must be"},
        {R"({"inboxes":[{"nme":"x"}]})", "inboxes[0].nme is unknown here"},
        {R"({"inboxes":[{}],"tag":"x"})", "tag is unknown here"},
    };
    for (const auto& [body, reason] : bad) {
        INFO(body.substr(0, 100));
        const auto refused = arranged.post(body);
        CHECK(refused.status == 400);
        CHECK_THAT(message(refused), Catch::StartsWith(reason));
        CHECK(arranged.check(body).status == 400);
    }
    CHECK(arranged.check(batch_of(100)).status == 204);
    CHECK(arranged.created.empty());
    CHECK(arranged.added_to_burst == 0);
}

TEST_CASE("a key with a tag gives it to every inbox of a batch", "[gateway][inboxes][key-access]")
{
    arranged_batch arranged;
    arranged.who.access.tag = "ci";

    CHECK(arranged.post(R"({"inboxes":[{},{"tags":["a","ci"]}]})").status == 200);

    REQUIRE(arranged.created.size() == 2);
    CHECK(arranged.created[0].tags_size() == 1);
    CHECK(arranged.created[0].tags(0) == "ci");
    CHECK(arranged.created[1].tags_size() == 2);
}
