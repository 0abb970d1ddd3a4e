#include "gateway/pipeline/api_pipeline.hpp"

#include "integration/gateway/pipeline/arranged_api.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::arranged_api;
using testing::header;
using testing::make_request;
using testing::message;
using testing::number;
using testing::unknown_key;

namespace {

const auto ended_inbox = inbox_id::make();

awaitable<http::response> find_nothing(http::request&, const caller&)
{
    co_return http::error_response(404, "does not exist");
}

awaitable<result<inbox::v1::GetInboxResponse>> find_ended_inbox(inbox::v1::GetInboxRequest asked)
{
    if (asked.inbox_id() != ended_inbox.text())
        co_return failure(errc::not_found, "does not exist");
    inbox::v1::GetInboxResponse found;
    found.mutable_inbox()->set_status(inbox::v1::INBOX_STATUS_EXPIRED);
    found.mutable_inbox()->mutable_expired_at()->set_seconds(1'795'305'600);
    co_return found;
}

} // namespace

TEST_CASE("the checks stand in the documented order", "[gateway][pipeline][postgres]")
{
    // Each request has every fault from its own on: the first one decides.
    struct row
    {
        const char* first_fault;
        unsigned status;
        bool is_counted;
    };
    const row rows[] = {{"key", 401, false},   {"plan", 403, false},  {"quota", 429, true},
                        {"path", 404, true},   {"method", 405, true}, {"scope", 403, true},
                        {"size", 413, true},   {"type", 415, true},   {"tag", 404, true},
                        {"nothing", 200, true}};
    const auto position = [&](const std::string& fault) {
        const auto row_of_fault =
            std::find_if(std::begin(rows), std::end(rows),
                         [&](const row& candidate) { return fault == candidate.first_fault; });
        return row_of_fault - std::begin(rows);
    };
    arranged_api api;
    accounts::key_access tagged, tagged_reader;
    tagged.tag = tagged_reader.tag = "ci";
    tagged_reader.scopes = accounts::scope_set::of_names({"emails:read"});
    const auto writer = api.create_key(api.account, tagged);
    const auto reader = api.create_key(api.account, tagged_reader);
    const auto without_api = api.create_key(api.create_account("free"));

    for (std::ptrdiff_t first = 0; first < std::ssize(rows); ++first) {
        const auto has = [&](const char* fault) { return first <= position(fault); };
        api.rate_limit.used.clear();
        api.rate_limit.is_used_up = has("quota");
        const auto calls = api.rate_limit.calls.size();
        api.is_outside_tag = has("tag");
        // A path fault hides the method's, and the method's the size's, so each is given alone
        // where it is the first.
        auto path = "/v1/inboxes/" + inbox_id::make().text() + "/things";
        std::string method = "POST";
        if (has("path"))
            path = "/v1/nothing";
        else if (has("method"))
            method = "PUT";
        auto received = make_request(method, path,
                                     has("key")     ? unknown_key()
                                     : has("plan")  ? without_api
                                     : has("scope") ? reader
                                                    : writer);
        received.body_too_large = has("size");
        if (has("type")) {
            received.body = "x=1";
            received.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
        }
        INFO(rows[first].first_fault);

        const auto response = api.send(received);

        CHECK(response.status == rows[first].status);
        CHECK((api.rate_limit.calls.size() == calls + 1) == rows[first].is_counted);
        CHECK(number(response, "X-RateLimit-Limit") >= 0);
        CHECK(number(response, "X-RateLimit-Remaining") >= 0);
        CHECK(number(response, "X-RateLimit-Reset") > to_unix_seconds(api.noon));
    }
}

TEST_CASE("a preflight needs no key and is not counted", "[gateway][pipeline][postgres]")
{
    arranged_api api;

    const auto response = api.send(make_request(
        "OPTIONS", "/v1/things", "",
        {{"Origin", "https://app.example"}, {"Access-Control-Request-Method", "POST"}}));

    CHECK(response.status == 204);
    CHECK(header(response, "Access-Control-Allow-Origin") == "*");
    const auto allowed = header(response, "Access-Control-Allow-Headers");
    for (const auto* name :
         {"X-API-Key", "Authorization", "Accept", "Idempotency-Key", "If-None-Match"})
        CHECK(allowed.find(name) != std::string::npos);
    CHECK(api.counted() == 0);
}

TEST_CASE("HEAD is answered as GET and counts", "[gateway][pipeline][postgres]")
{
    arranged_api api;

    const auto response = api.send("HEAD", "/v1/things");

    CHECK(response.status == 200);
    CHECK(api.counted() == 1);
    CHECK(api.is_use_noted());
}

TEST_CASE("responses carry the account's numbers, and allow the browser to read them",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;

    const auto response =
        api.send(make_request("GET", "/v1/things", api.key, {{"Origin", "https://app.example"}}));

    CHECK(number(response, "X-RateLimit-Limit") == 10'000);
    CHECK(number(response, "X-RateLimit-Remaining") == 9'999);
    CHECK(number(response, "X-RateLimit-Reset") == next_midnight(api.noon));
    CHECK(header(response, "Access-Control-Allow-Origin") == "*");
    CHECK(header(response, "RateLimit-Policy").ends_with(R"("day";q=10000;w=86400)"));
    CHECK(header(response, "RateLimit") == R"("day";r=9999;t=43200)");
    for (const auto* name :
         {"X-RateLimit-Remaining", "X-Error-Code", "RateLimit-Policy", "Deprecation", "Sunset"})
        CHECK_THAT(header(response, "Access-Control-Expose-Headers"), Catch::Contains(name));
}

TEST_CASE("a key is taken as Authorization: Bearer, and a 401 names this scheme",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    const auto by_bearer = [&](const std::string& key, const std::string& token) {
        return api.send(
            make_request("GET", "/v1/things", key, {{"Authorization", "Bearer " + token}}));
    };

    CHECK(by_bearer("", api.key).status == 200);
    CHECK(by_bearer(api.key, api.key).status == 200);
    const auto conflict = by_bearer(api.key, unknown_key());
    const auto unknown = by_bearer("", unknown_key());

    CHECK(header(conflict, "X-Error-Code") == "key_conflict");
    CHECK(header(unknown, "X-Error-Code") == "key_invalid");
    for (const auto& refused : {conflict, unknown}) {
        CHECK(refused.status == 401);
        CHECK(header(refused, "WWW-Authenticate") == "Bearer");
        CHECK(header(refused, "RateLimit-Policy").empty());
    }
}

TEST_CASE("a 404 of an inbox that ended says so", "[gateway][pipeline][postgres]")
{
    auto operations = testing::test_operations();
    operations.emplace_back("GET", "/v1/inboxes/{inboxId}/emails", accounts::scope::emails_read,
                            body_kind::none, find_nothing);
    arranged_api api(std::move(operations));
    api.rate_limit.network->add(inbox_methods::get_inbox, find_ended_inbox);
    const auto code = [&](const inbox_id& id) {
        const auto response = api.send("GET", "/v1/inboxes/" + id.text() + "/emails");
        CHECK(response.status == 404);
        return header(response, "X-Error-Code");
    };

    CHECK(code(ended_inbox) == "inbox_ended");
    CHECK(code(inbox_id::make()) == "not_found");
}

TEST_CASE("a path with an entry check of its own is closed to pages, and its key may be a bearer's",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;

    const auto bearer =
        api.send(make_request("POST", "/programs", "", {{"Authorization", "Bearer " + api.key}}));
    const auto page =
        api.send(make_request("POST", "/programs", api.key, {{"Origin", "https://app.example"}}));

    CHECK(bearer.status == 200);
    CHECK(page.status == 403);
    CHECK(header(page, "Access-Control-Allow-Origin").empty());
    CHECK(api.counted() == 1);
}

TEST_CASE("what throws becomes 503 or 500 with the usual headers and without its text",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;

    const auto lost = api.send("GET", "/v1/lost");
    const auto broken = api.send("GET", "/v1/broken");
    api.scratch.execute("ALTER TABLE accounts.api_keys RENAME TO api_keys_away");
    const auto unchecked = api.send("GET", "/v1/things");

    CHECK(lost.status == 503);
    CHECK(number(lost, "Retry-After") == 1);
    CHECK(number(lost, "X-RateLimit-Remaining") == 9'999);
    CHECK(lost.body.find("10.1.2.3") == std::string::npos);
    CHECK(broken.status == 500);
    CHECK(broken.body.find("secret") == std::string::npos);
    CHECK(unchecked.status == 503);
    CHECK(number(unchecked, "X-RateLimit-Limit") == 60);
}

TEST_CASE("the pipeline serves /v1, what is below it, and operations beside it",
          "[gateway][pipeline][postgres]")
{
    const arranged_api api;

    CHECK(api.pipeline.serves("/v1"));
    CHECK(api.pipeline.serves("/v1/"));
    CHECK(api.pipeline.serves("/v1/inboxes"));
    CHECK(api.pipeline.serves("/programs"));
    CHECK_FALSE(api.pipeline.serves("/"));
    CHECK_FALSE(api.pipeline.serves("/programs/"));
    CHECK_FALSE(api.pipeline.serves("/v10/inboxes"));
    CHECK_FALSE(api.pipeline.serves("/V1/inboxes"));
}

TEST_CASE("a target that cannot be decoded is 400, after key, path and method",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    auto received = make_request("GET", "/v1/things", api.key);
    received.target_error = "The query is not well-formed";
    auto keyless = make_request("GET", "/v1/things");
    keyless.target_error = received.target_error;

    const auto response = api.send(received);

    CHECK(response.status == 400);
    CHECK(message(response) == "The query is not well-formed");
    CHECK(number(response, "X-RateLimit-Remaining") == 9'999);
    CHECK(api.send(keyless).status == 401);
}

TEST_CASE("a large response to a GET is counted until it is sent, and without room it is 503; a "
          "change gets its response",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;

    auto first = api.send("GET", "/v1/large");
    const auto refused = api.send("GET", "/v1/large");
    const auto used = api.memory.used();
    const auto small = api.send("GET", "/v1/things");
    const auto changed = api.send("POST", "/v1/large");
    first = http::response();
    const auto later = api.send("GET", "/v1/large");

    CHECK(used == 200'002);
    CHECK(refused.status == 503);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(refused, "X-RateLimit-Remaining") == 9'998);
    CHECK(small.status == 200);
    CHECK(changed.status == 200);
    CHECK(later.status == 200);
}

TEST_CASE("past the plan's burst a key gets its own 429, which is not counted against the day",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    api.scratch.execute("UPDATE accounts.plans SET burst_per_second = 2 WHERE plan = 'premium'");
    for (int i = 0; i < 2; ++i)
        CHECK(api.send("POST", "/v1/things").status == 200);

    const auto refused = api.send("GET", "/v1/nothing");
    api.clock.advance(1s);
    const auto later = api.send("POST", "/v1/things");

    CHECK(refused.status == 429);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(refused, "X-RateLimit-Remaining") == 9'998);
    CHECK(later.status == 200);
    CHECK(api.counted() == 3);
}
