#include "gateway/dashboard/pipeline.hpp"

#include "accounts/sign_in_tokens.hpp"
#include "common/json/value.hpp"
#include "common/testing/await.hpp"
#include "gateway/access/session_cookie.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const auto noon = *parse_iso8601("2026-11-21T12:00:00Z");
const secret good_token("good-token");

awaitable<http::response> respond_with_account(const http::request&, const caller& who)
{
    co_return http::ok_json("{\"account\":\"" + who.account().text() + "\",\"at\":\"" +
                            who.location_of("things", "1") + "\"}");
}

awaitable<http::response> lose_dependency(const http::request&, const caller&)
{
    throw dependency_error("no route to 10.1.2.3");
    co_return http::response();
}

awaitable<http::response> respond_large(const http::request&, const caller&)
{
    co_return http::ok_json("\"" + std::string(200'000, 'x') + "\"");
}

std::vector<route> own_routes()
{
    std::vector<route> all;
    all.emplace_back("GET", "/dashboard/api/things", body_kind::none, respond_with_account);
    all.emplace_back("POST", "/dashboard/api/things", body_kind::json, respond_with_account);
    all.emplace_back("DELETE", "/dashboard/api/things", body_kind::none, respond_with_account);
    all.emplace_back("GET", "/dashboard/api/large", body_kind::none, respond_large);
    all.emplace_back("GET", "/dashboard/api/lost", body_kind::none, lose_dependency);
    all.emplace_back("POST", "/dashboard/api/password", body_kind::json, respond_with_account);
    all.back().holds_password = true;
    return all;
}

std::vector<route> open_routes()
{
    std::vector<route> all;
    all.emplace_back("GET", "/dashboard/api/settings", body_kind::none, respond_with_account);
    all.emplace_back("POST", "/dashboard/api/session", body_kind::json, respond_with_account);
    return all;
}

class arranged_dashboard;
struct scripted_parts
{
    arranged_dashboard& sessions;
    arranged_dashboard& day;
    arranged_dashboard& quota;
    arranged_dashboard& idempotency;
};
using dashboard_pipeline = basic_dashboard_pipeline<scripted_parts>;

// The pipeline over one session; counts the calls to its parts, which it stands in for.
class arranged_dashboard
{
public:
    arranged_dashboard()
        : clock(noon),
          open_operations(open_routes()),
          operations(own_routes()),
          checked(clock, open_operations, operations, {*this, *this, *this, *this}, {}, memory)
    {
        owner.state.account = account_id::make();
    }

    http::response send(const std::string& method, const std::string& path,
                        http::header_list headers = {}, std::string body = "")
    {
        auto received = make_request(method, path, std::move(headers));
        received.body = std::move(body);
        return testing::await(checked.handle(received));
    }

    static http::request make_request(const std::string& method, const std::string& path,
                                      http::header_list headers)
    {
        http::request received;
        received.method = method;
        received.target = received.path = path;
        received.headers = std::move(headers);
        received.peer = boost::asio::ip::make_address("192.0.2.1");
        received.id = "request-1";
        return received;
    }

    accounts::account owner;
    bool is_signed_in = true;
    bool is_day_left = true;
    int counted = 0;
    int looked_up = 0;
    int handled_idempotent = 0;
    manual_clock clock;
    std::vector<route> open_operations;
    std::vector<route> operations;
    response_budget memory{1'000'000};
    dashboard_pipeline checked;

    awaitable<result<session_result>> find(std::string digest, lookups allowed)
    {
        const bool is_good =
            is_signed_in && digest == accounts::session_digest(good_token.reveal());
        if (allowed == lookups::seen_good && !is_good)
            co_return failure{
                errc::rate_limited,
                "Too many requests with sessions that do not exist from this address"};
        ++looked_up;
        session_result found;
        found.was_strange = !is_good;
        if (is_good)
            found.account = owner;
        co_return found;
    }

    rate_limit_headers last_known(const plans::account_state&) { return {}; }
    awaitable<http::response> handle(http::request& received, caller& who, const route& operation)
    {
        ++handled_idempotent;
        return operation.handle(received, who);
    }
    awaitable<quota_decision> take(account_id account)
    {
        CHECK(account == owner.id());
        ++counted;
        co_return quota_decision(is_day_left, false,
                                 rate_limit_headers(20'000, 0, to_unix_seconds(noon) + 43'200));
    }
};

http::header_list signed_in(http::header_list more = {})
{
    more.emplace_back("Cookie", "tempinbox_session=" + good_token.reveal());
    return more;
}

http::header_list with_token(http::header_list more = {})
{
    more.emplace_back("X-CSRF-Token", csrf_token_of(good_token));
    return signed_in(std::move(more));
}

std::string message(const http::response& response)
{
    return json::value::parse(response.body).value()["message"].text();
}

std::string code_of(const http::response& response)
{
    return json::value::parse(response.body).value()["code"].text();
}

} // namespace

TEST_CASE("a session opens the operations of its account", "[gateway][dashboard]")
{
    arranged_dashboard dashboard;

    const auto response = dashboard.send("GET", "/dashboard/api/things", signed_in());

    CHECK(response.status == 200);
    CHECK(response.body.find(dashboard.owner.id().text()) != std::string::npos);
    CHECK(response.body.find("/dashboard/api/things/1") != std::string::npos);
    CHECK(http::find_header(response.headers, "Cache-Control") == "no-store");
    CHECK_FALSE(http::find_header(response.headers, "X-RateLimit-Limit"));
    CHECK_FALSE(http::find_header(response.headers, "Access-Control-Allow-Origin"));
}

TEST_CASE("without a session everything is 401, known or not, and an API key changes nothing",
          "[gateway][dashboard]")
{
    arranged_dashboard dashboard;

    CHECK(dashboard.send("GET", "/dashboard/api/things").status == 401);
    CHECK(dashboard.send("GET", "/dashboard/api/nothing").status == 401);
    CHECK(dashboard.send("POST", "/dashboard/api/things").status == 401);
    CHECK(dashboard.send("OPTIONS", "/dashboard/api/things").status == 401);
    CHECK(dashboard.send("GET", "/dashboard/api/things", {{"X-API-Key", "ti_live_whatever"}})
              .status == 401);
    CHECK(dashboard.looked_up == 0);
}

TEST_CASE("a session that ended is 401, and the browser forgets it", "[gateway][dashboard]")
{
    arranged_dashboard dashboard;
    dashboard.is_signed_in = false;

    const auto response = dashboard.send("GET", "/dashboard/api/things", signed_in());

    CHECK(response.status == 401);
    CHECK(http::find_header(response.headers, "Set-Cookie").value_or("").find("Max-Age=0") !=
          std::string_view::npos);
}

TEST_CASE("what changes something needs the session's own CSRF token", "[gateway][dashboard]")
{
    arranged_dashboard dashboard;
    const auto other = csrf_token_of(secret("another-session"));

    CHECK(dashboard.send("POST", "/dashboard/api/things", signed_in()).status == 403);
    CHECK(dashboard.send("DELETE", "/dashboard/api/things", signed_in({{"X-CSRF-Token", other}}))
              .status == 403);
    CHECK(dashboard.send("DELETE", "/dashboard/api/things", signed_in({{"X-CSRF-Token", ""}}))
              .status == 403);
    CHECK(dashboard.send("PATCH", "/dashboard/api/nothing", signed_in()).status == 403);
    CHECK(dashboard.send("POST", "/dashboard/api/things", with_token()).status == 200);
    CHECK(dashboard.send("DELETE", "/dashboard/api/things", with_token()).status == 200);
    CHECK(message(dashboard.send("POST", "/dashboard/api/things", signed_in()))
              .find("X-CSRF-Token is missing") != std::string::npos);
}

TEST_CASE("every refusal says by a word which one it is", "[gateway][dashboard]")
{
    arranged_dashboard dashboard;
    const auto other = csrf_token_of(secret("another-session"));
    const auto code = [&dashboard](const std::string& method, const std::string& path,
                                   http::header_list headers) {
        return code_of(dashboard.send(method, path, std::move(headers)));
    };

    CHECK(code("GET", "/dashboard/api/things", {}) == "no_session");
    CHECK(code("POST", "/dashboard/api/session", {}) == "other_site");
    CHECK(code("POST", "/dashboard/api/things", signed_in()) == "csrf_token_missing");
    CHECK(code("POST", "/dashboard/api/things", signed_in({{"X-CSRF-Token", other}})) ==
          "csrf_token_mismatch");
    CHECK(code("GET", "/dashboard/api/nothing", signed_in()) == "not_found");
    CHECK(code("PATCH", "/dashboard/api/things", with_token()) == "method_not_allowed");
    CHECK(code("GET", "/dashboard/api/lost", signed_in()) == "unavailable");
    dashboard.is_day_left = false;
    CHECK(code("GET", "/dashboard/api/things", signed_in()) == "daily_limit_reached");
    dashboard.is_signed_in = false;
    CHECK(code("GET", "/dashboard/api/things", signed_in()) == "session_ended");
}

TEST_CASE("after the session the checks are those of the API", "[gateway][dashboard]")
{
    arranged_dashboard dashboard;

    CHECK(dashboard.send("GET", "/dashboard/api/nothing", signed_in()).status == 404);
    const auto wrong_method = dashboard.send("PATCH", "/dashboard/api/things", with_token());
    CHECK(wrong_method.status == 405);
    CHECK(http::find_header(wrong_method.headers, "Allow"));
    CHECK(dashboard
              .send("POST", "/dashboard/api/things", with_token({{"Content-Type", "text/plain"}}),
                    "{}")
              .status == 415);
    const auto lost = dashboard.send("GET", "/dashboard/api/lost", signed_in());
    CHECK(lost.status == 503);
    CHECK(lost.body.find("10.1.2.3") == std::string::npos);
}

TEST_CASE("a POST with an Idempotency-Key is answered once, but not one with a password",
          "[gateway][dashboard]")
{
    arranged_dashboard dashboard;
    const auto headers = with_token({{"Idempotency-Key", "key"}});

    CHECK(dashboard.send("POST", "/dashboard/api/things", headers).status == 200);
    CHECK(dashboard.handled_idempotent == 1);
    CHECK(dashboard.send("POST", "/dashboard/api/things", with_token()).status == 200);
    CHECK(dashboard.handled_idempotent == 1);
    CHECK(dashboard.send("POST", "/dashboard/api/password", headers).status == 200);
    CHECK(dashboard.handled_idempotent == 1);
}

TEST_CASE("public operations need no session, but changes must come from the own page",
          "[gateway][dashboard]")
{
    arranged_dashboard dashboard;

    CHECK(dashboard.send("GET", "/dashboard/api/settings").status == 200);
    CHECK(dashboard.send("POST", "/dashboard/api/session").status == 403);
    CHECK(dashboard.send("POST", "/dashboard/api/session", {{"Sec-Fetch-Site", "cross-site"}})
              .status == 403);
    CHECK(dashboard.send("POST", "/dashboard/api/session", {{"Sec-Fetch-Site", "same-origin"}})
              .status == 200);
    CHECK(dashboard.looked_up == 0);
}

TEST_CASE("an account has a burst of its own, whatever its plan says of the API",
          "[gateway][dashboard]")
{
    arranged_dashboard dashboard;
    for (int i = 0; i < dashboard_pipeline::requests_per_second; ++i)
        CHECK(dashboard.send("GET", "/dashboard/api/things", signed_in()).status == 200);

    const auto response = dashboard.send("GET", "/dashboard/api/things", signed_in());
    CHECK(response.status == 429);
    CHECK(http::find_header(response.headers, "Retry-After") == "1");

    dashboard.clock.advance(std::chrono::seconds(1));
    CHECK(dashboard.send("GET", "/dashboard/api/things", signed_in()).status == 200);
}

TEST_CASE("what an account's sessions send is counted, and past their day it is 429",
          "[gateway][dashboard]")
{
    arranged_dashboard dashboard;

    CHECK(dashboard.send("GET", "/dashboard/api/things", signed_in()).status == 200);
    CHECK(dashboard.send("GET", "/dashboard/api/settings").status == 200);
    CHECK(dashboard.send("GET", "/dashboard/api/things").status == 401);
    CHECK(dashboard.counted == 1);
    dashboard.is_day_left = false;
    const auto refused = dashboard.send("GET", "/dashboard/api/things", signed_in());

    CHECK(refused.status == 429);
    CHECK(http::find_header(refused.headers, "Retry-After") == "43200");
    CHECK(message(refused).find("20000") != std::string::npos);
}

TEST_CASE(
    "past sixty lookups of unknown sessions an address gets no more, but one seen open passes",
    "[gateway][dashboard]")
{
    arranged_dashboard dashboard;
    const auto send_unknown = [&](int number) {
        return dashboard.send("GET", "/dashboard/api/things",
                              {{"Cookie", "tempinbox_session=unknown" + std::to_string(number)}});
    };
    for (int i = 0; i < 60; ++i)
        CHECK(send_unknown(i).status == 401);

    const auto past = send_unknown(60);

    CHECK(past.status == 429);
    CHECK(http::find_header(past.headers, "Retry-After") == "60");
    CHECK(dashboard.looked_up == 60);
    CHECK(dashboard.send("GET", "/dashboard/api/things", signed_in()).status == 200);
    dashboard.clock.advance(std::chrono::minutes(1));
    CHECK(send_unknown(61).status == 401);
}

TEST_CASE("the dashboard's API is what stands below its root", "[gateway][dashboard]")
{
    CHECK(dashboard_pipeline::serves("/dashboard/api"));
    CHECK(dashboard_pipeline::serves("/dashboard/api/keys"));
    CHECK_FALSE(dashboard_pipeline::serves("/dashboard/apis"));
    CHECK_FALSE(dashboard_pipeline::serves("/dashboard"));
    CHECK_FALSE(dashboard_pipeline::serves("/v1/inboxes"));
}

TEST_CASE("a session's large answers are counted until they are sent", "[gateway][dashboard]")
{
    arranged_dashboard arranged;

    auto first = arranged.send("GET", "/dashboard/api/large", signed_in());
    const auto refused = arranged.send("GET", "/dashboard/api/large", signed_in());
    first = http::response();

    CHECK(refused.status == 503);
    CHECK(http::find_header(refused.headers, "Retry-After") == "1");
    CHECK(arranged.send("GET", "/dashboard/api/large", signed_in()).status == 200);
    CHECK(arranged.memory.used() == 0);
}

TEST_CASE("the header alone decides over a request without a session or from another site",
          "[gateway][dashboard]")
{
    arranged_dashboard arranged;
    const auto [path, headers, status] = GENERATE(table<std::string, http::header_list, unsigned>({
        {"/dashboard/api/things", {}, 401u},
        {"/dashboard/api/nothing", {}, 401u},
        {"/dashboard/api/session", {{"Origin", "https://other.example"}}, 403u},
        {"/dashboard/api/session", {}, 403u},
    }));

    const auto early =
        arranged.checked.judge_header(arranged_dashboard::make_request("POST", path, headers));
    const auto late = arranged.send("POST", path, headers);

    REQUIRE(early);
    CHECK(early->status == status);
    CHECK(early->body == late.body);
    CHECK(early->headers == late.headers);
    CHECK(arranged.looked_up == 0);
}

TEST_CASE("a request of the own page or with a session is not judged by its header",
          "[gateway][dashboard]")
{
    arranged_dashboard arranged;
    const auto judge = [&arranged](const std::string& path, http::header_list headers) {
        return arranged.checked.judge_header(
            arranged_dashboard::make_request("POST", path, std::move(headers)));
    };

    CHECK_FALSE(judge("/dashboard/api/session", {{"Sec-Fetch-Site", "same-origin"}}));
    CHECK_FALSE(judge("/dashboard/api/things", {{"Cookie", "tempinbox_session=any"}}));
}
