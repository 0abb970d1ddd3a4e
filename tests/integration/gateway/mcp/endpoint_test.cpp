#include "gateway/mcp/endpoint.hpp"

#include "integration/gateway/pipeline/arranged_api.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using testing::await;
using testing::header;
using testing::make_request;
using testing::message;

namespace {

const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

std::string call_of(const std::string& tool, const std::string& arguments)
{
    return R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":")" + tool +
           R"(","arguments":)" + arguments + R"(,"_meta":{"progressToken":"t"}}})";
}

awaitable<http::response> time_out(const http::request&, const caller&)
{
    co_return http::ok_json(
        R"({"outcome":"timeout","email":null,"lastSequence":4,"waitedMs":1,"nearMisses":[]})");
}

std::vector<route> operations(mcp::content_reader& contents)
{
    auto all = testing::test_operations();
    all.emplace_back("GET", "/v1/inboxes/{inboxId}/emails/wait", accounts::scope::emails_read,
                     body_kind::none, time_out);
    all.push_back(mcp::endpoint(contents));
    return all;
}

// MCP behind the checks of the API, over operations of a test.
struct arranged_mcp
{
    http::request post(const std::string& body) const
    {
        auto request = make_request("POST", "/mcp", api.key,
                                    {{"Content-Type", "application/json"},
                                     {"Accept", "application/json, text/event-stream"},
                                     {"MCP-Protocol-Version", "2025-11-25"}});
        request.body = body;
        return request;
    }

    mcp::content_reader contents{testing::test_host().executor(), 1};
    testing::arranged_api api{operations(contents)};
};

} // namespace

TEST_CASE("each message of MCP counts as one request, whatever operation it calls",
          "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;

    const auto created = mcp.api.send(mcp.post(call_of("create_inbox", "{}")));

    CHECK(created.status == 200);
    CHECK_THAT(created.body, Catch::Contains("inboxId"));
    CHECK(header(created, "X-RateLimit-Remaining") == "9999");
    CHECK(mcp.api.counted() == 1);
    CHECK(mcp.api.is_use_noted());
    CHECK(mcp.api.send(mcp.post(ping)).status == 200);
    CHECK(mcp.api.counted() == 2);
}

TEST_CASE("an Idempotency-Key of MCP is that of the operation that creates, and not MCP's own",
          "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    auto request = mcp.post(call_of("create_inbox", "{}"));
    request.headers.emplace_back("Idempotency-Key", "k1");

    const auto first = mcp.api.send(request);
    const auto again = mcp.api.send(request);

    CHECK(first.status == 200);
    CHECK(again.body == first.body);
    CHECK(mcp.api.stored_responses() == 1);
}

TEST_CASE("an operation that MCP calls is judged by the key's scopes", "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    accounts::key_access reading;
    reading.scopes = accounts::scope_set::of_names({"inboxes:read"});
    mcp.api.key = mcp.api.create_key(mcp.api.account, reading);

    const auto refused = mcp.api.send(mcp.post(call_of("create_inbox", "{}")));

    CHECK(refused.status == 200);
    CHECK_THAT(refused.body, Catch::Contains("needs an API key with the scope inboxes:write"));
}

TEST_CASE("MCP takes its key by either header and never in the address", "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    const auto own = mcp.post(ping);
    auto none = own;
    none.headers.pop_back();
    auto bearer = none;
    bearer.headers.emplace_back("Authorization", "bearer " + mcp.api.key);
    auto both = own;
    both.headers.emplace_back("Authorization", "Bearer " + mcp.api.create_key(mcp.api.account));
    auto basic = none;
    basic.headers.emplace_back("Authorization", "Basic " + mcp.api.key);
    auto address = own;
    address.target = "/mcp?key=" + mcp.api.key;
    address.query.emplace_back("key", mcp.api.key);

    CHECK(mcp.api.send(own).status == 200);
    CHECK(mcp.api.send(bearer).status == 200);
    for (const auto& [request, says] : {std::pair{both, "two different API keys"},
                                        {basic, "must be Bearer"},
                                        {none, "is missing"},
                                        {address, "revoke"}}) {
        const auto response = mcp.api.send(request);
        CHECK(response.status == 401);
        CHECK_THAT(message(response), Catch::Contains(says));
        CHECK(message(response).find(mcp.api.key) == std::string::npos);
    }
    CHECK(mcp.api.counted() == 2);
}

TEST_CASE("a page of another site gets nothing from MCP, and no CORS", "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    const auto from = [&](const std::string& origin) {
        auto request = mcp.post(ping);
        request.headers.emplace_back("Host", "mail.example");
        request.headers.emplace_back("Origin", origin);
        return mcp.api.send(request);
    };

    const auto own = from("https://mail.example");

    CHECK(own.status == 200);
    CHECK(header(own, "Access-Control-Allow-Origin").empty());
    CHECK(from("https://other.example").status == 403);
    CHECK(from("null").status == 403);
}

TEST_CASE("MCP takes POST alone, and refuses all else for nothing", "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    for (const auto* method : {"GET", "DELETE", "HEAD", "PUT", "OPTIONS"}) {
        const auto response = mcp.api.send(method, "/mcp");
        CHECK(response.status == 405);
        CHECK(header(response, "Allow") == "POST");
    }
    CHECK(mcp.api.counted() == 0);
}

TEST_CASE("MCP has the statuses of the API before a message is read", "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    auto large = mcp.post("");
    large.body_too_large = true;
    auto text = mcp.post("{}");
    text.headers.front().second = "text/plain";
    auto query = mcp.post("{}");
    query.query.emplace_back("x", "y");

    CHECK(mcp.api.send(large).status == 413);
    CHECK(mcp.api.send(text).status == 415);
    CHECK(mcp.api.send(query).status == 400);
    mcp.api.rate_limit.is_used_up = true;
    CHECK(mcp.api.send(mcp.post("{}")).status == 429);
}

TEST_CASE(
    "a wait that answers piece by piece has the numbers of its day, and its calls outlive its "
    "request",
    "[gateway][mcp][postgres]")
{
    arranged_mcp mcp;
    const auto arguments = "{\"inboxId\":\"" + inbox_id::make().text() + "\",\"timeoutSeconds\":1}";

    const auto response = mcp.api.send(mcp.post(call_of("get_code", arguments)));
    REQUIRE(response.source);
    std::string last;
    for (auto piece = await(response.source->next()); !piece.empty();
         piece = await(response.source->next()))
        last = piece;

    CHECK(header(response, "X-RateLimit-Remaining") == "9999");
    CHECK_THAT(last, Catch::Contains(R"("outcome":"not_yet")"));
}
