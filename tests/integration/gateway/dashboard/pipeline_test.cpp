#include "gateway/dashboard/pipeline.hpp"

#include "accounts/account_repository.hpp"
#include "accounts/sign_in_tokens.hpp"
#include "common/core/encoding.hpp"
#include "common/json/value.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"
#include "unit/gateway/quota/fake_rate_limit.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;
using testing::await;
using testing::header;
using testing::message;

namespace {

awaitable<http::response> respond_with_account(const http::request&, const caller& who)
{
    co_return http::ok_json("{\"account\":\"" + who.account().text() + "\",\"at\":\"" +
                            who.location_of("things", "1") + "\"}");
}

awaitable<http::response> find_nothing(const http::request&, const caller&)
{
    co_return http::error_response(404, "does not exist");
}

awaitable<result<inbox::v1::GetInboxResponse>> find_ended_inbox(inbox::v1::GetInboxRequest)
{
    inbox::v1::GetInboxResponse found;
    found.mutable_inbox()->set_status(inbox::v1::INBOX_STATUS_EXPIRED);
    found.mutable_inbox()->mutable_expired_at()->set_seconds(1'795'305'600);
    co_return found;
}

std::vector<route> open_operations()
{
    std::vector<route> all;
    all.emplace_back("GET", "/dashboard/api/settings", body_kind::none, respond_with_account);
    all.emplace_back("POST", "/dashboard/api/session", body_kind::json, respond_with_account);
    return all;
}

// The dashboard's pipeline over a database of its own, in which one account has a session.
// Rate-limit is in this process; the clock stands at noon of tomorrow.
class arranged_dashboard
{
public:
    arranged_dashboard()
    {
        rate_limit.reset = next_midnight(noon);
        accounts::account_repository repository(scratch.db(),
                                                accounts::state_publisher("test", nullptr));
        account =
            await(repository.create(account_id::make(), "a@example.com", "free", "hash"))->id();
        const auto digest = accounts::session_digest(token.reveal());
        CHECK(await(sign_ins.open_session(digest, account, "hash")));
    }

    http::response send(const std::string& method, const std::string& path,
                        http::header_list headers = {}, std::string body = "")
    {
        auto received = testing::make_request(method, path, "", std::move(headers));
        received.body = std::move(body);
        return await(pipeline.handle(received));
    }
    refusal judge_header(const std::string& path, http::header_list headers) const
    {
        auto received = testing::make_request("POST", path, "", std::move(headers));
        return pipeline.judge_header(received);
    }

    http::header_list signed_in(http::header_list more = {}) const
    {
        more.emplace_back("Cookie", "tempinbox_session=" + token.reveal());
        return more;
    }
    http::header_list with_token(http::header_list more = {}) const
    {
        more.emplace_back("X-CSRF-Token", csrf_token_of(token));
        return signed_in(std::move(more));
    }

    // Any look-up of a session is 503 from now on.
    void take_sessions_away()
    {
        scratch.execute("ALTER TABLE accounts.sessions RENAME TO sessions_away");
    }
    void bring_sessions_back()
    {
        scratch.execute("ALTER TABLE accounts.sessions_away RENAME TO sessions");
    }
    void end_session() { await(sign_ins.end_sessions(account)); }
    std::int64_t stored_responses()
    {
        return scratch.execute("SELECT count(*) FROM accounts.idempotency_keys")[0][0]
            .as<std::int64_t>();
    }

    std::function<void()> meanwhile = [] {}; // while the slow operation runs
    const time_point noon = day_of(testing::test_host().clock().now()) + 36h;
    manual_clock clock{noon};
    const secret token = accounts::make_session_token();
    account_id account;
    testing::scratch_database scratch{{"accounts"}};
    accounts::sign_in_repository sign_ins{scratch.db()};
    accounts::idempotency_repository idempotency_keys{scratch.db()};
    testing::fake_rate_limit rate_limit;
    testing::running_quota_client quota{rate_limit};
    lookup_limiter strangers{testing::test_host(), 1, 0};
    session_lookups sessions{sign_ins, strangers};
    session_day day{*quota, 20'000, noon};
    idempotent_calls idempotency{
        testing::test_host(),
        idempotency_keys,
        {crypto::keyring::parse("one:" + to_base64(std::string(32, 'k'))).value(), {}},
        10'000};
    inbox_client inboxes{testing::test_host(),
                         {testing::in_process_services::anywhere()},
                         rate_limit.network->tokens(),
                         rate_limit.network->client_settings()};
    response_budget memory{1'000'000};
    dashboard_pipeline pipeline{clock,
                                open_operations(),
                                operations(),
                                {sessions, day, *quota, idempotency, inboxes, memory},
                                {}};

private:
    std::vector<route> operations()
    {
        const std::string root(dashboard_api_root);
        const auto slow = [this](http::request&, const caller&) { return respond_slowly(); };
        std::vector<route> all;
        all.emplace_back("GET", root + "/things", body_kind::none, respond_with_account);
        all.emplace_back("POST", root + "/things", body_kind::json, respond_with_account);
        all.emplace_back("DELETE", root + "/things", body_kind::none, respond_with_account);
        all.emplace_back("GET", root + "/large", body_kind::none, testing::respond_large);
        all.emplace_back("GET", root + "/lost", body_kind::none, testing::lose_dependency);
        all.emplace_back("GET", root + "/slow", body_kind::none, slow);
        all.emplace_back("GET", root + "/inboxes/{inboxId}/emails", body_kind::none, find_nothing);
        all.emplace_back("POST", root + "/password", body_kind::json, respond_with_account);
        all.back().holds_password = true;
        return all;
    }
    awaitable<http::response> respond_slowly()
    {
        meanwhile();
        co_return http::ok_json("{}");
    }
};

std::string code_of(const http::response& response)
{
    return json::value::parse(response.body).value()["code"].text();
}

} // namespace

TEST_CASE("a session opens the operations of its account",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;

    const auto response = dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in());

    CHECK(response.status == 200);
    CHECK(response.body.find(dashboard.account.text()) != std::string::npos);
    CHECK(response.body.find("/dashboard/api/things/1") != std::string::npos);
    CHECK(header(response, "Cache-Control") == "no-store");
    CHECK(header(response, "X-RateLimit-Limit").empty());
    CHECK(header(response, "Access-Control-Allow-Origin").empty());
}

TEST_CASE("a 404 of an inbox that ended says so, and when",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    dashboard.rate_limit.network->add(inbox_methods::get_inbox, find_ended_inbox);

    const auto response =
        dashboard.send("GET", "/dashboard/api/inboxes/" + inbox_id::make().text() + "/emails",
                       dashboard.signed_in());

    CHECK(response.status == 404);
    CHECK(code_of(response) == "inbox_ended");
    CHECK(message(response).find("ended at 2026-11-22T00:00:00.000Z") != std::string::npos);
}

TEST_CASE("without a session everything is 401, known or not, and an API key changes nothing",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    dashboard.take_sessions_away();

    CHECK(dashboard.send("GET", "/dashboard/api/things").status == 401);
    CHECK(dashboard.send("GET", "/dashboard/api/nothing").status == 401);
    CHECK(dashboard.send("POST", "/dashboard/api/things").status == 401);
    CHECK(dashboard.send("OPTIONS", "/dashboard/api/things").status == 401);
    CHECK(dashboard.send("GET", "/dashboard/api/things", {{"X-API-Key", "ti_live_whatever"}})
              .status == 401);
}

TEST_CASE("a session that ended is 401, and the browser forgets it",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    dashboard.end_session();

    const auto response = dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in());

    CHECK(response.status == 401);
    CHECK(header(response, "Set-Cookie").find("Max-Age=0") != std::string::npos);
}

TEST_CASE("what changes something needs the session's own CSRF token",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto other = csrf_token_of(secret("another-session"));

    CHECK(dashboard.send("POST", "/dashboard/api/things", dashboard.signed_in()).status == 403);
    CHECK(
        dashboard
            .send("DELETE", "/dashboard/api/things", dashboard.signed_in({{"X-CSRF-Token", other}}))
            .status == 403);
    CHECK(dashboard
              .send("DELETE", "/dashboard/api/things", dashboard.signed_in({{"X-CSRF-Token", ""}}))
              .status == 403);
    CHECK(dashboard.send("PATCH", "/dashboard/api/nothing", dashboard.signed_in()).status == 403);
    CHECK(dashboard.send("POST", "/dashboard/api/things", dashboard.with_token()).status == 200);
    CHECK(dashboard.send("DELETE", "/dashboard/api/things", dashboard.with_token()).status == 200);
    CHECK(message(dashboard.send("POST", "/dashboard/api/things", dashboard.signed_in()))
              .find("X-CSRF-Token is missing") != std::string::npos);
}

TEST_CASE("every refusal says by a word which one it is",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto other = csrf_token_of(secret("another-session"));
    const auto code = [&dashboard](const std::string& method, const std::string& path,
                                   http::header_list headers) {
        return code_of(dashboard.send(method, path, std::move(headers)));
    };

    CHECK(code("GET", "/dashboard/api/things", {}) == "no_session");
    CHECK(code("POST", "/dashboard/api/session", {}) == "other_site");
    CHECK(code("POST", "/dashboard/api/things", dashboard.signed_in()) == "csrf_token_missing");
    CHECK(code("POST", "/dashboard/api/things", dashboard.signed_in({{"X-CSRF-Token", other}})) ==
          "csrf_token_mismatch");
    CHECK(code("GET", "/dashboard/api/nothing", dashboard.signed_in()) == "unknown_path");
    CHECK(code("PATCH", "/dashboard/api/things", dashboard.with_token()) == "method_not_allowed");
    CHECK(code("GET", "/dashboard/api/lost", dashboard.signed_in()) == "unavailable");
    dashboard.rate_limit.is_used_up = true;
    CHECK(code("GET", "/dashboard/api/things", dashboard.signed_in()) == "daily_limit");
    dashboard.end_session();
    CHECK(code("GET", "/dashboard/api/things", dashboard.signed_in()) == "session_ended");
}

TEST_CASE("after the session the checks are those of the API",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;

    CHECK(dashboard.send("GET", "/dashboard/api/nothing", dashboard.signed_in()).status == 404);
    const auto wrong_method =
        dashboard.send("PATCH", "/dashboard/api/things", dashboard.with_token());
    CHECK(wrong_method.status == 405);
    CHECK_FALSE(header(wrong_method, "Allow").empty());
    CHECK(dashboard
              .send("POST", "/dashboard/api/things",
                    dashboard.with_token({{"Content-Type", "text/plain"}}), "{}")
              .status == 415);
    const auto lost = dashboard.send("GET", "/dashboard/api/lost", dashboard.signed_in());
    CHECK(lost.status == 503);
    CHECK(lost.body.find("10.1.2.3") == std::string::npos);
}

TEST_CASE("a POST with an Idempotency-Key is answered once, but not one with a password",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto headers = dashboard.with_token({{"Idempotency-Key", "key"}});

    CHECK(dashboard.send("POST", "/dashboard/api/things", headers).status == 200);
    CHECK(dashboard.stored_responses() == 1);
    CHECK(dashboard.send("POST", "/dashboard/api/things", dashboard.with_token()).status == 200);
    CHECK(dashboard.stored_responses() == 1);
    CHECK(dashboard.send("POST", "/dashboard/api/password", headers).status == 200);
    CHECK(dashboard.stored_responses() == 1);
}

TEST_CASE("public operations need no session, but changes must come from the own page",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    dashboard.take_sessions_away();

    CHECK(dashboard.send("GET", "/dashboard/api/settings").status == 200);
    CHECK(dashboard.send("POST", "/dashboard/api/session").status == 403);
    CHECK(dashboard.send("POST", "/dashboard/api/session", {{"Sec-Fetch-Site", "cross-site"}})
              .status == 403);
    CHECK(dashboard.send("POST", "/dashboard/api/session", {{"Sec-Fetch-Site", "same-origin"}})
              .status == 200);
}

TEST_CASE("an account has a burst of its own, whatever its plan says of the API",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    for (int i = 0; i < session_requests_per_second; ++i)
        CHECK(dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in()).status == 200);

    const auto response = dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in());
    CHECK(response.status == 429);
    CHECK(header(response, "Retry-After") == "1");

    dashboard.clock.advance(1s);
    CHECK(dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in()).status == 200);
}

TEST_CASE("what an account's sessions send is counted, and past their day it is 429",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;

    CHECK(dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in()).status == 200);
    CHECK(dashboard.send("GET", "/dashboard/api/settings").status == 200);
    CHECK(dashboard.send("GET", "/dashboard/api/things").status == 401);
    CHECK(dashboard.rate_limit.calls.size() == 1);
    dashboard.rate_limit.is_used_up = true;
    const auto refused = dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in());

    CHECK(refused.status == 429);
    CHECK(header(refused, "Retry-After") == "43200");
    CHECK(message(refused).find("20000") != std::string::npos);
}

TEST_CASE(
    "past sixty lookups of unknown sessions an address gets no more, but one seen open passes",
    "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto send_unknown = [&](int number) {
        return dashboard.send("GET", "/dashboard/api/things",
                              {{"Cookie", "tempinbox_session=unknown" + std::to_string(number)}});
    };
    CHECK(dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in()).status == 200);
    for (int i = 0; i < 60; ++i)
        CHECK(send_unknown(i).status == 401);

    dashboard.take_sessions_away();
    const auto past = send_unknown(60);
    dashboard.bring_sessions_back();

    CHECK(past.status == 429);
    CHECK(header(past, "Retry-After") == "60");
    CHECK(dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in()).status == 200);
    dashboard.clock.advance(1min);
    CHECK(send_unknown(61).status == 401);
}

TEST_CASE("the dashboard's API is what stands below its root",
          "[gateway][dashboard][pipeline][postgres]")
{
    CHECK(dashboard_pipeline::serves("/dashboard/api"));
    CHECK(dashboard_pipeline::serves("/dashboard/api/keys"));
    CHECK_FALSE(dashboard_pipeline::serves("/dashboard/apis"));
    CHECK_FALSE(dashboard_pipeline::serves("/dashboard"));
    CHECK_FALSE(dashboard_pipeline::serves("/v1/inboxes"));
}

TEST_CASE("a session's large answers are counted until they are sent",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;

    auto first = dashboard.send("GET", "/dashboard/api/large", dashboard.signed_in());
    const auto refused = dashboard.send("GET", "/dashboard/api/large", dashboard.signed_in());
    first = http::response();

    CHECK(refused.status == 503);
    CHECK(header(refused, "Retry-After") == "1");
    CHECK(dashboard.send("GET", "/dashboard/api/large", dashboard.signed_in()).status == 200);
    CHECK(dashboard.memory.used() == 0);
}

TEST_CASE("what was read after a long time is not given to a session that ended meanwhile",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto send = [&] {
        return dashboard.send("GET", "/dashboard/api/slow", dashboard.signed_in());
    };
    dashboard.meanwhile = [&] { dashboard.clock.advance(1s); };
    CHECK(send().status == 200);

    dashboard.meanwhile = [&] {
        dashboard.clock.advance(1s);
        dashboard.scratch.execute("DELETE FROM accounts.sessions");
    };

    CHECK(code_of(send()) == "session_ended");
}

TEST_CASE("a session that cannot be looked up now is 503",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto taken = await(dashboard.strangers.enter());

    const auto refused = dashboard.send("GET", "/dashboard/api/things", dashboard.signed_in());

    CHECK(refused.status == 503);
    CHECK(header(refused, "Retry-After") == "1");
}

TEST_CASE("the header alone decides over a request without a session or from another site",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    const auto [path, headers, status] = GENERATE(table<std::string, http::header_list, unsigned>({
        {"/dashboard/api/things", {}, 401u},
        {"/dashboard/api/nothing", {}, 401u},
        {"/dashboard/api/session", {{"Origin", "https://other.example"}}, 403u},
        {"/dashboard/api/session", {}, 403u},
    }));

    dashboard.take_sessions_away();

    const auto early = dashboard.judge_header(path, headers);
    const auto late = dashboard.send("POST", path, headers);

    REQUIRE(early);
    CHECK(early->status == status);
    CHECK(early->body == late.body);
    CHECK(early->headers == late.headers);
}

TEST_CASE("a request of the own page or with a session is not judged by its header",
          "[gateway][dashboard][pipeline][postgres]")
{
    arranged_dashboard dashboard;
    CHECK_FALSE(
        dashboard.judge_header("/dashboard/api/session", {{"Sec-Fetch-Site", "same-origin"}}));
    CHECK_FALSE(
        dashboard.judge_header("/dashboard/api/things", {{"Cookie", "tempinbox_session=any"}}));
}
