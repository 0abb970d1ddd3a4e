#include "accounts/api_key.hpp"
#include "common/testing/await.hpp"
#include "gateway/pipeline/pipeline.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using namespace std::chrono_literals;

namespace {

const std::string key = accounts::make_api_key().reveal();

struct slow_pipeline;
struct slow_parts
{
    slow_pipeline& keys;
    slow_pipeline& uses;
    slow_pipeline& quota;
    slow_pipeline& idempotency;
    slow_pipeline& tags;
};

// A pipeline whose one operation takes as long as a test says and lets it change the account
// meanwhile.
struct slow_pipeline
{
    manual_clock clock{*parse_iso8601("2026-11-21T12:00:00Z")};
    accounts::key_owner owner;
    bool is_revoked = false;
    bool is_key_store_away = false;
    bool is_outside_tag = false;
    int keys_found = 0;
    std::function<void()> meanwhile = [] {};
    std::vector<route> operations{all_routes()};
    response_budget memory{1'000};
    basic_pipeline<slow_parts> checked{
        clock, operations, {*this, *this, *this, *this, *this}, {}, memory};

    slow_pipeline()
    {
        owner.position = 1;
        owner.account.account = account_id::make();
        owner.account.plan = "premium";
        owner.account.limits.api_access = true;
        owner.account.limits.api_keys = 1;
    }

    unsigned send(const std::string& method = "GET")
    {
        http::request received;
        received.method = method;
        received.path = "/v1/slow";
        received.target = received.path;
        received.peer = boost::asio::ip::make_address("192.0.2.1");
        received.headers.emplace_back("X-API-Key", key);
        return testing::await(checked.handle(received)).status;
    }

    awaitable<result<key_result>> find(std::string, lookups)
    {
        ++keys_found;
        if (is_key_store_away)
            throw dependency_error("PostgreSQL is away");
        key_result found;
        if (!is_revoked)
            found.owner = std::make_shared<const accounts::key_owner>(owner);
        co_return found;
    }
    awaitable<quota_decision> take(const plans::account_state&)
    {
        co_return quota_decision(true, false, rate_limit_headers(10, 9, 0));
    }
    rate_limit_headers last_known(const plans::account_state&) { return {}; }
    void note(const accounts::key_owner&, time_point) {}
    awaitable<http::response> handle(http::request& received, caller& who, const route& operation)
    {
        return operation.handle(received, who);
    }
    awaitable<std::optional<http::response>> check(const http::request&, const caller&)
    {
        if (is_outside_tag)
            co_return http::error_response(404, "Inbox does not exist");
        co_return std::nullopt;
    }
    awaitable<std::optional<http::response>> check_created(const http::response&, const caller&)
    {
        co_return std::nullopt;
    }

private:
    std::vector<route> all_routes()
    {
        const auto act = [this](http::request&, const caller&) { return respond(); };
        std::vector<route> all;
        all.emplace_back("GET", "/v1/slow", accounts::scope::emails_read, body_kind::none, act);
        all.emplace_back("POST", "/v1/slow", accounts::scope::emails_write, body_kind::none, act);
        return all;
    }

    awaitable<http::response> respond()
    {
        meanwhile();
        co_return http::ok_json("{}");
    }
};

} // namespace

TEST_CASE("a quick response costs one lookup of the key", "[gateway][pipeline]")
{
    slow_pipeline arranged;

    CHECK(arranged.send() == 200);

    CHECK(arranged.keys_found == 1);
}

TEST_CASE("what was read after a long time is not given to a key revoked meanwhile, nor to a plan "
          "without API",
          "[gateway][pipeline]")
{
    slow_pipeline arranged;
    arranged.meanwhile = [&] {
        arranged.clock.advance(1s);
        arranged.is_revoked = true;
    };
    CHECK(arranged.send() == 401);

    arranged.meanwhile = [&] {
        arranged.clock.advance(1s);
        arranged.owner.account.limits.api_access = false;
    };
    arranged.is_revoked = false;
    CHECK(arranged.send() == 403);
}

TEST_CASE("when nobody knows the key any more, what was read after a long time becomes 503",
          "[gateway][pipeline]")
{
    slow_pipeline arranged;
    arranged.meanwhile = [&] {
        arranged.clock.advance(1s);
        arranged.is_key_store_away = true;
    };

    CHECK(arranged.send() == 503);
}

TEST_CASE("what was changed stays answered as it is, however long it took", "[gateway][pipeline]")
{
    slow_pipeline arranged;
    arranged.meanwhile = [&] {
        arranged.clock.advance(1s);
        arranged.is_revoked = true;
    };

    CHECK(arranged.send("POST") == 200);
}

TEST_CASE("what was read after a long time is not given to a key that expired meanwhile, nor if "
          "its inbox lost the key's tag",
          "[gateway][pipeline][key-access]")
{
    slow_pipeline arranged;
    arranged.meanwhile = [&] { arranged.clock.advance(1s); };
    arranged.owner.access.expires_at = arranged.clock.now() + 1s;
    CHECK(arranged.send() == 401);

    arranged.owner.access.expires_at = std::nullopt;
    arranged.owner.access.tag = "ci";
    arranged.meanwhile = [&] {
        arranged.clock.advance(1s);
        arranged.is_outside_tag = true;
    };
    CHECK(arranged.send() == 404);
}
