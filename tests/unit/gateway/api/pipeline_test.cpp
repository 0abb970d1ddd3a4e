#include "gateway/api/pipeline.hpp"

#include "accounts/api_key.hpp"
#include "common/json/value.hpp"
#include "common/testing/await.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");
const auto midnight = to_unix_seconds(*parse_iso8601("2026-11-22T00:00:00Z"));
const std::string good_key = accounts::make_api_key().reveal();
const std::string unknown_key = accounts::make_api_key().reveal();

awaitable<http::response> answer_ok(const http::request&, const caller&)
{
    co_return http::ok_json("{}");
}

awaitable<http::response> lose_dependency(const http::request&, const caller&)
{
    throw dependency_error("no route to 10.1.2.3");
    co_return http::response();
}

awaitable<http::response> break_down(const http::request&, const caller&)
{
    throw std::runtime_error("null pointer in secret place");
    co_return http::response();
}

std::vector<route> test_routes()
{
    std::vector<route> all;
    all.emplace_back("GET", "/v1/things", body_kind::none, answer_ok);
    all.emplace_back("POST", "/v1/things", body_kind::json, answer_ok);
    all.emplace_back("PATCH", "/v1/patched", body_kind::merge_patch, answer_ok);
    all.emplace_back("GET", "/v1/lost", body_kind::none, lose_dependency);
    all.emplace_back("GET", "/v1/broken", body_kind::none, break_down);
    return all;
}

accounts::key_owner premium_owner()
{
    accounts::key_owner owner;
    owner.key = key_id::make();
    owner.position = 1;
    owner.account.account = account_id::make();
    owner.account.plan = "premium";
    owner.account.limits.api_access = true;
    owner.account.limits.requests_per_day = 10'000;
    owner.account.limits.api_keys = 5;
    return owner;
}

// The pipeline over one account, whose key, plan and quota a test changes; counts what it was asked.
class arranged_pipeline
{
public:
    arranged_pipeline() : clock(noon), operations(test_routes()), checked(clock, operations, sources(), {}) {}

    http::response send(http::request received)
    {
        received.peer = boost::asio::ip::make_address("192.0.2.1");
        received.id = "request-1";
        if (received.target.empty())
            received.target = received.path;
        return testing::await(checked.answer(received));
    }

    accounts::key_owner owner = premium_owner();
    bool is_key_store_away = false;
    bool is_quota_left = true;
    int quota_taken = 0;
    int uses_noted = 0;
    manual_clock clock;
    routes operations;
    pipeline checked;

private:
    pipeline_sources sources()
    {
        pipeline_sources all;
        all.find_key = [this](std::string digest) { return find_key(std::move(digest)); };
        all.take_quota = [this](const plans::account_state&) { return take_quota(); };
        all.last_known_quota = [](const plans::account_state&) { return quota_numbers(10'000, 1'234, midnight); };
        all.note_use = [this](const accounts::key_owner&, time_point) { ++uses_noted; };
        return all;
    }

    awaitable<std::shared_ptr<const accounts::key_owner>> find_key(std::string digest)
    {
        if (is_key_store_away)
            throw dependency_error("PostgreSQL is away");
        std::shared_ptr<const accounts::key_owner> found;
        if (digest == accounts::api_key_digest(good_key))
            found = std::make_shared<const accounts::key_owner>(owner);
        co_return found;
    }

    awaitable<quota_decision> take_quota()
    {
        ++quota_taken;
        co_return quota_decision(is_quota_left, false, quota_numbers(10'000, is_quota_left ? 9'999 : 0, midnight));
    }
};

http::request make_request(const std::string& method, const std::string& path, const std::string& key = good_key)
{
    http::request received;
    received.method = method;
    received.path = path;
    if (!key.empty())
        received.headers.emplace_back("X-API-Key", key);
    return received;
}

std::int64_t number(const http::response& answer, std::string_view name)
{
    const auto text = http::find_header(answer.headers, name);
    return text ? std::stoll(std::string(*text)) : -1;
}

std::string message(const http::response& answer)
{
    return json::value::parse(answer.body).value()["message"].text();
}

} // namespace

TEST_CASE("the checks stand in the documented order", "[gateway][pipeline]")
{
    // Each request has every fault from its own on: the first one decides.
    struct row
    {
        const char* first_fault;
        unsigned status;
        bool is_counted;
    };
    const row rows[] = {{"key", 401, false},   {"plan", 403, false}, {"quota", 429, true}, {"path", 404, true},
                        {"method", 405, true}, {"size", 413, true},  {"type", 415, true},  {"nothing", 200, true}};
    const auto position = [&](const std::string& fault) {
        const auto found =
            std::find_if(std::begin(rows), std::end(rows), [&](const row& one) { return fault == one.first_fault; });
        return found - std::begin(rows);
    };

    for (std::ptrdiff_t first = 0; first < std::ssize(rows); ++first) {
        const auto has = [&](const char* fault) { return first <= position(fault); };
        arranged_pipeline arranged;
        arranged.owner.account.limits.api_access = !has("plan");
        arranged.is_quota_left = !has("quota");
        // A path fault hides the method's, and the method's the size's, so each is given alone where it is the first.
        auto received = make_request("POST", "/v1/things", has("key") ? unknown_key : good_key);
        if (has("path"))
            received.path = "/v1/nothing";
        else if (has("method"))
            received.method = "PUT";
        received.body_too_large = has("size");
        if (has("type")) {
            received.body = "x=1";
            received.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
        }
        INFO(rows[first].first_fault);

        const auto answer = arranged.send(received);

        CHECK(answer.status == rows[first].status);
        CHECK((arranged.quota_taken == 1) == rows[first].is_counted);
        CHECK(number(answer, "X-RateLimit-Limit") >= 0);
        CHECK(number(answer, "X-RateLimit-Remaining") >= 0);
        CHECK(number(answer, "X-RateLimit-Reset") > to_unix_seconds(noon));
    }
}

TEST_CASE("a preflight needs no key and is not counted", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("OPTIONS", "/v1/things", "");
    received.headers.emplace_back("Origin", "https://app.example");
    received.headers.emplace_back("Access-Control-Request-Method", "POST");

    const auto answer = arranged.send(received);

    CHECK(answer.status == 204);
    CHECK(http::find_header(answer.headers, "Access-Control-Allow-Origin") == "*");
    CHECK(http::find_header(answer.headers, "Access-Control-Allow-Headers")->find("X-API-Key") != std::string_view::npos);
    CHECK(arranged.quota_taken == 0);
}

TEST_CASE("OPTIONS that is no preflight names the methods", "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    const auto answer = arranged.send(make_request("OPTIONS", "/v1/things"));

    CHECK(answer.status == 204);
    CHECK(http::find_header(answer.headers, "Allow") == "GET, HEAD, POST, OPTIONS");
}

TEST_CASE("HEAD is answered as GET and counts", "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    const auto answer = arranged.send(make_request("HEAD", "/v1/things"));

    CHECK(answer.status == 200);
    CHECK(arranged.quota_taken == 1);
    CHECK(arranged.uses_noted == 1);
}

TEST_CASE("answers carry the account's numbers, and tell the browser it may read them", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("GET", "/v1/things");
    received.headers.emplace_back("Origin", "https://app.example");

    const auto answer = arranged.send(received);

    CHECK(number(answer, "X-RateLimit-Limit") == 10'000);
    CHECK(number(answer, "X-RateLimit-Remaining") == 9'999);
    CHECK(number(answer, "X-RateLimit-Reset") == midnight);
    CHECK(http::find_header(answer.headers, "Access-Control-Allow-Origin") == "*");
    CHECK(http::find_header(answer.headers, "Access-Control-Expose-Headers")->find("X-RateLimit-Remaining") !=
          std::string_view::npos);
}

TEST_CASE("sixty failures from one address are 401, then 429 until the minute ends, and a valid key passes all the while",
          "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    for (int i = 59; i >= 0; --i) {
        const auto answer = arranged.send(make_request("GET", "/v1/things", i % 2 == 0 ? "" : unknown_key));
        CHECK(answer.status == 401);
        CHECK(number(answer, "X-RateLimit-Limit") == 60);
        CHECK(number(answer, "X-RateLimit-Remaining") == i);
    }

    const auto past = arranged.send(make_request("GET", "/v1/things", "nonsense"));
    const auto valid = arranged.send(make_request("GET", "/v1/things"));

    CHECK(past.status == 429);
    CHECK(number(past, "Retry-After") == 60);
    CHECK(valid.status == 200);
}

TEST_CASE("a plan without API access is 403 with empty numbers", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.owner.account.plan = "free";
    arranged.owner.account.limits = plans::plan_limits();

    const auto answer = arranged.send(make_request("GET", "/v1/things"));

    CHECK(answer.status == 403);
    CHECK(message(answer) == "API access is not available on the plan free");
    CHECK(number(answer, "X-RateLimit-Limit") == 0);
    CHECK(number(answer, "X-RateLimit-Remaining") == 0);
    CHECK(number(answer, "X-RateLimit-Reset") == midnight);
}

TEST_CASE("an ended pass is free from that moment", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.owner.account.plan = "pass7";
    arranged.owner.account.plan_ends_at = noon + std::chrono::seconds(1);

    const auto before = arranged.send(make_request("GET", "/v1/things"));
    arranged.clock.advance(std::chrono::seconds(1));
    const auto after = arranged.send(make_request("GET", "/v1/things"));

    CHECK(before.status == 200);
    CHECK(after.status == 403);
    CHECK(message(after) == "API access is not available on the plan free");
}

TEST_CASE("only the oldest keys up to the plan's number are active", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.owner.account.limits.api_keys = 2;
    arranged.owner.position = 2;
    const auto second = arranged.send(make_request("GET", "/v1/things"));
    arranged.owner.position = 3;
    const auto third = arranged.send(make_request("GET", "/v1/things"));

    CHECK(second.status == 200);
    CHECK(third.status == 403);
    CHECK(message(third).starts_with("This API key is inactive"));
}

TEST_CASE("a used-up day says when it ends", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    arranged.is_quota_left = false;

    const auto answer = arranged.send(make_request("GET", "/v1/things"));

    CHECK(answer.status == 429);
    CHECK(number(answer, "Retry-After") == 43'200);
    CHECK(message(answer) == "The daily limit of 10000 requests is used up; it resets at 2026-11-22T00:00:00.000Z");
}

TEST_CASE("JSON bodies are taken whatever the parameters of their type, and no body needs no type", "[gateway][pipeline]")
{
    struct row
    {
        const char* type;
        const char* body;
        unsigned status;
    };
    const row rows[] = {{"application/json", "{}", 200},
                        {"Application/JSON; charset=utf-8", "{}", 200},
                        {"application/json ;x=y", "{}", 200},
                        {"text/plain", "{}", 415},
                        {"application/json5", "{}", 415},
                        {"", "{}", 415},
                        {"application/x-www-form-urlencoded", "", 200}};

    for (const auto& row : rows) {
        arranged_pipeline arranged;
        auto received = make_request("POST", "/v1/things");
        received.headers.emplace_back("Content-Type", row.type);
        received.body = row.body;
        INFO(row.type);
        CHECK(arranged.send(received).status == row.status);
    }
    arranged_pipeline arranged;
    auto untyped = make_request("POST", "/v1/things");
    untyped.body = "{}";
    CHECK(arranged.send(untyped).status == 415);
    auto packed = make_request("POST", "/v1/things");
    packed.body = "{}";
    packed.headers.emplace_back("Content-Type", "application/json");
    packed.headers.emplace_back("Content-Encoding", "gzip");
    CHECK(arranged.send(packed).status == 415);
}

TEST_CASE("a patch is taken by both of its types", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    const auto sent_as = [&](const std::string& type) {
        auto received = make_request("PATCH", "/v1/patched");
        received.body = "{}";
        received.headers.emplace_back("Content-Type", type);
        return arranged.send(received);
    };

    CHECK(sent_as("application/json").status == 200);
    CHECK(sent_as("Application/Merge-Patch+JSON; charset=utf-8").status == 200);
    const auto refused = sent_as("application/json-patch+json");
    CHECK(refused.status == 415);
    CHECK(http::find_header(refused.headers, "Accept-Patch") == "application/json, application/merge-patch+json");
}

TEST_CASE("what throws becomes 503 or 500 with the usual headers and without its text", "[gateway][pipeline]")
{
    arranged_pipeline arranged;

    const auto lost = arranged.send(make_request("GET", "/v1/lost"));
    const auto broken = arranged.send(make_request("GET", "/v1/broken"));
    arranged.is_key_store_away = true;
    const auto unchecked = arranged.send(make_request("GET", "/v1/things"));

    CHECK(lost.status == 503);
    CHECK(number(lost, "Retry-After") == 1);
    CHECK(number(lost, "X-RateLimit-Remaining") == 9'999);
    CHECK(lost.body.find("10.1.2.3") == std::string::npos);
    CHECK(broken.status == 500);
    CHECK(broken.body.find("secret") == std::string::npos);
    CHECK(unchecked.status == 503);
    CHECK(number(unchecked, "X-RateLimit-Limit") == 60);
}

TEST_CASE("the pipeline serves /v1 and what is below it", "[gateway][pipeline]")
{
    CHECK(pipeline::serves("/v1"));
    CHECK(pipeline::serves("/v1/"));
    CHECK(pipeline::serves("/v1/inboxes"));
    CHECK_FALSE(pipeline::serves("/"));
    CHECK_FALSE(pipeline::serves("/v10/inboxes"));
    CHECK_FALSE(pipeline::serves("/V1/inboxes"));
}

TEST_CASE("a target that cannot be decoded is 400, after key, path and method", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("GET", "/v1/things");
    received.target_problem = "The query is not well-formed";
    auto unknown = received;
    unknown.path = unknown.target = "/v1/nothing";
    auto keyless = make_request("GET", "/v1/things", "");
    keyless.target_problem = received.target_problem;

    const auto answer = arranged.send(received);

    CHECK(answer.status == 400);
    CHECK(answer.body.find("The query is not well-formed") != std::string::npos);
    CHECK(number(answer, "X-RateLimit-Remaining") == 9'999);
    CHECK(arranged.send(unknown).status == 404);
    CHECK(arranged.send(keyless).status == 401);
}

TEST_CASE("two keys are none", "[gateway][pipeline]")
{
    arranged_pipeline arranged;
    auto received = make_request("GET", "/v1/things");
    received.headers.emplace_back("x-api-key", good_key);

    CHECK(arranged.send(received).status == 401);
}

TEST_CASE("past the plan's burst a key gets its own 429, which is not counted against the day", "[gateway]")
{
    arranged_pipeline p;
    p.owner.account.limits.burst_per_second = 2;
    for (int i = 0; i < 2; ++i)
        CHECK(p.send(make_request("POST", "/v1/things")).status == 200);

    const auto refused = p.send(make_request("GET", "/v1/nothing"));
    p.clock.advance(std::chrono::seconds(1));
    const auto later = p.send(make_request("POST", "/v1/things"));

    CHECK(refused.status == 429);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(refused, "X-RateLimit-Remaining") == 1'234);
    CHECK(refused.body.find("in one second") != std::string::npos);
    CHECK(later.status == 200);
    CHECK(p.quota_taken == 3);
}

TEST_CASE("a header that has one value must not come twice", "[gateway][pipeline]")
{
    const auto name = GENERATE(as<std::string>{}, "Content-Type", "Content-Encoding", "Idempotency-Key");
    arranged_pipeline arranged;
    auto received = make_request("POST", "/v1/things");
    received.headers.emplace_back(name, "a");
    received.headers.emplace_back(name, "a");

    const auto answer = arranged.send(received);

    CHECK(answer.status == 400);
    CHECK(answer.body.find("Header " + name + " is given more than once") != std::string::npos);
}
