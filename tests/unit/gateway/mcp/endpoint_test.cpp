#include "gateway/mcp/endpoint.hpp"

#include "unit/gateway/api/arranged_pipeline.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const std::string handshake = "2025-11-25";

awaitable<http::response> create(const http::request& received, const caller&)
{
    const auto key = received.header("Idempotency-Key").value_or("none");
    co_return http::created_json("{\"inboxId\":\"1\",\"key\":\"" + std::string(key) + "\"}",
                                 "/v1/inboxes/1");
}

awaitable<http::response> refuse_list(const http::request& received, const caller&)
{
    auto refused = http::error_response(
        503, "status is " + std::string(received.query_param("status").value_or("absent")));
    refused.set("Retry-After", 1);
    co_return refused;
}

awaitable<http::response> time_out(const http::request& received, const caller&)
{
    co_return http::ok_json(
        R"({"outcome":"timeout","email":null,"lastSequence":4,"waitedMs":1,"nearMisses":[)"
        R"({"emailId":"e","field":"subject","expected":"code","actual":"INJECT )" +
        std::string(*received.query_param("after")) + "\"}]}");
}

int emails_given = 0;
std::function<void()> on_email = [] {};

// One email after the other, none with a code or a link.
awaitable<http::response> give_email(const http::request& received, const caller&)
{
    ++emails_given;
    on_email();
    const auto after = std::stoi(std::string(*received.query_param("after")));
    co_return http::ok_json(R"({"outcome":"matched","email":{"sequence":)" +
                            std::to_string(after + 1) + R"(,"links":[],"codes":[]}})");
}

std::vector<route> scripted()
{
    std::vector<route> all;
    all.emplace_back("POST", "/v1/inboxes", body_kind::json, create);
    all.emplace_back("GET", "/v1/inboxes", body_kind::none, refuse_list);
    all.emplace_back("GET", "/v1/inboxes/{inboxId}/emails/wait", body_kind::none, time_out);
    all.push_back(mcp::endpoint());
    return all;
}

struct arranged_mcp : arranged_pipeline
{
    explicit arranged_mcp(std::vector<route> all = scripted()) : arranged_pipeline(std::move(all))
    {}

    http::request post(const std::string& body, const std::string& revision = handshake)
    {
        auto request = make_request("POST", "/mcp");
        request.headers.emplace_back("Content-Type", "application/json");
        request.headers.emplace_back("Accept", "application/json, text/event-stream");
        if (!revision.empty())
            request.headers.emplace_back("MCP-Protocol-Version", revision);
        request.body = body;
        return request;
    }
    json::value result(const std::string& method, const std::string& params)
    {
        const auto response = send(post(R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                                        R"(","params":)" + params + "}"));
        CHECK(response.status == 200);
        return json::value::parse(response.body).value();
    }
    json::value call(const std::string& tool, const std::string& arguments)
    {
        return result("tools/call",
                      R"({"name":")" + tool + R"(","arguments":)" + arguments + "}")["result"];
    }
};

} // namespace

TEST_CASE("the handshake is answered and remembered by nobody", "[gateway][mcp]")
{
    arranged_mcp arranged;

    const auto response = arranged.send(arranged.post(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})",
        ""));
    const auto notice =
        arranged.send(arranged.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));

    const auto body = json::value::parse(response.body).value();
    CHECK(body["result"]["protocolVersion"].text() == "2025-06-18");
    CHECK(body["result"]["serverInfo"]["name"].text() == "temporary-inbox-service");
    CHECK_FALSE(http::find_header(response.headers, "Mcp-Session-Id"));
    CHECK(notice.status == 202);
    CHECK(notice.body.empty());
    CHECK(arranged.quota_taken == 2);
}

TEST_CASE("results of the stateless revision say what they are", "[gateway][mcp]")
{
    arranged_mcp arranged;
    auto request =
        arranged.post(R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{)"
                      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                      R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
                      "2026-07-28");
    request.headers.emplace_back("Mcp-Method", "server/discover");

    const auto response = arranged.send(request);

    const auto result = json::value::parse(response.body).value()["result"];
    CHECK(response.status == 200);
    CHECK(result["resultType"].text() == "complete");
    CHECK(result["supportedVersions"][0].text() == "2026-07-28");
    CHECK(result["ttlMs"].integer() > 0);
    CHECK(result["cacheScope"].text() == "public");
    CHECK(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"].is_string());
}

TEST_CASE("a tool calls its operation and counts as one request", "[gateway][mcp]")
{
    arranged_mcp arranged;

    const auto result = arranged.call("create_inbox", R"({"name":"x"})");

    CHECK(result["structuredContent"]["inboxId"].text() == "1");
    CHECK(result["content"][0]["text"].text() == result["structuredContent"].to_string());
    CHECK_FALSE(result["isError"].boolean());
    CHECK(arranged.quota_taken == 1);
    CHECK(arranged.uses_noted == 1);
}

TEST_CASE("an Idempotency-Key goes to the operation that creates", "[gateway][mcp]")
{
    arranged_mcp arranged;
    auto request = arranged.post(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_inbox"}})");
    request.headers.emplace_back("Idempotency-Key", "k1");

    const auto response = arranged.send(request);

    CHECK_THAT(response.body, Catch::Contains(R"("key":"k1")"));
}

TEST_CASE("what an operation refuses is an error of the tool, in its words", "[gateway][mcp]")
{
    arranged_mcp arranged;

    const auto result = arranged.call("list_inboxes", R"({"status":"all"})");

    CHECK(result["isError"].boolean());
    CHECK(result["content"][0]["text"].text() == "status is all. Try again in 1 s.");
    CHECK_FALSE(result.find("structuredContent"));
}

TEST_CASE("a wait that is over says where to go on, and fences what came", "[gateway][mcp]")
{
    arranged_mcp arranged;

    const auto result =
        arranged.call("wait_for_email", "{\"inboxId\":\"" + inbox_id::make().text() +
                                            "\",\"after\":3,\"timeoutSeconds\":1}");

    const auto content = result["structuredContent"];
    CHECK(content["outcome"].text() == "not_yet");
    CHECK(content["after"].integer() == 3);
    CHECK(content["email"].is_null());
    CHECK(content["nearMisses"][0]["actual"].text() ==
          content["mailFence"]["open"].text() + "INJECT 3" + content["mailFence"]["close"].text());
}

TEST_CASE("a method, a tool or arguments that do not exist are JSON-RPC's errors", "[gateway][mcp]")
{
    arranged_mcp arranged;

    CHECK(arranged.result("resources/list", "{}")["error"]["code"].integer() == -32601);
    CHECK(arranged.result("server/discover", "{}")["error"]["code"].integer() == -32601);
    CHECK(arranged.result("tools/call", "{}")["error"]["code"].integer() == -32602);
    CHECK(arranged.result("tools/call", R"({"name":"rm"})")["error"]["code"].integer() == -32602);
    CHECK(arranged.result("tools/call", R"({"name":"get_code","arguments":[]})")["error"]["code"]
              .integer() == -32602);
    CHECK(arranged.result("tools/list", R"({"cursor":"x"})")["error"]["code"].integer() == -32602);
}

TEST_CASE("MCP takes its key by either header and never in the address", "[gateway][mcp]")
{
    arranged_mcp arranged;
    const auto ping = arranged.post(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    auto bearer = ping;
    bearer.headers.front() = {"Authorization", "bearer " + good_key};
    auto both = ping;
    both.headers.emplace_back("Authorization", "Bearer " + good_key);
    auto basic = ping;
    basic.headers.front() = {"Authorization", "Basic " + good_key};
    auto none = ping;
    none.headers.erase(none.headers.begin());
    auto address = ping;
    address.target = "/mcp?key=" + good_key;
    address.query.emplace_back("key", good_key);

    CHECK(arranged.send(ping).status == 200);
    CHECK(arranged.send(bearer).status == 200);
    CHECK(arranged.quota_taken == 2);
    for (const auto& [request, says] : {std::pair{both, "more than once"},
                                        {basic, "must be Bearer"},
                                        {none, "is missing"},
                                        {address, "revoke"}}) {
        const auto response = arranged.send(request);
        CHECK(response.status == 401);
        CHECK_THAT(message(response), Catch::Contains(says));
        CHECK(message(response).find(good_key) == std::string::npos);
    }
    CHECK(arranged.quota_taken == 2);
}

TEST_CASE("a page of another site gets nothing from MCP, and no CORS", "[gateway][mcp]")
{
    arranged_mcp arranged;
    auto ping = arranged.post(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    ping.headers.emplace_back("Host", "mail.example");
    auto own = ping;
    own.headers.emplace_back("Origin", "https://mail.example");
    auto other = ping;
    other.headers.emplace_back("Origin", "https://other.example");
    auto opaque = ping;
    opaque.headers.emplace_back("Origin", "null");

    CHECK(arranged.send(own).status == 200);
    CHECK(arranged.send(other).status == 403);
    CHECK(arranged.send(opaque).status == 403);
    CHECK_FALSE(http::find_header(arranged.send(own).headers, "Access-Control-Allow-Origin"));
}

TEST_CASE("MCP takes POST alone, and refuses all else for nothing", "[gateway][mcp]")
{
    arranged_mcp arranged;
    for (const auto* method : {"GET", "DELETE", "HEAD", "PUT", "OPTIONS"}) {
        const auto response = arranged.send(make_request(method, "/mcp"));
        CHECK(response.status == 405);
        CHECK(http::find_header(response.headers, "Allow") == "POST");
    }
    CHECK(arranged.quota_taken == 0);
}

TEST_CASE("MCP has the statuses of the API before a message is read", "[gateway][mcp]")
{
    arranged_mcp arranged;
    auto large = arranged.post("");
    large.body_too_large = true;
    auto text = arranged.post("{}");
    text.headers[1].second = "text/plain";
    auto query = arranged.post("{}");
    query.query.emplace_back("x", "y");

    CHECK(arranged.send(large).status == 413);
    CHECK(arranged.send(text).status == 415);
    CHECK(arranged.send(query).status == 400);
    arranged.is_quota_left = false;
    CHECK(arranged.send(arranged.post("{}")).status == 429);
}

TEST_CASE("a wait with a progress token answers piece by piece", "[gateway][mcp]")
{
    arranged_mcp arranged;

    auto response = arranged.send(arranged.post(
        R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get_code","arguments":{)"
        "\"inboxId\":\"" +
        inbox_id::make().text() + R"(","timeoutSeconds":1},"_meta":{"progressToken":"t"}}})"));
    REQUIRE(response.source);
    std::vector<std::string> pieces;
    for (auto piece = testing::await(response.source->next()); !piece.empty();
         piece = testing::await(response.source->next()))
        pieces.push_back(piece);

    CHECK(http::find_header(response.headers, "X-RateLimit-Remaining") == "9999");
    REQUIRE_FALSE(pieces.empty());
    CHECK_THAT(pieces.back(), Catch::Contains(R"("outcome":"not_yet")"));
    CHECK_THAT(pieces.back(),
               Catch::StartsWith("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":9"));
    if (pieces.size() > 1)
        CHECK_THAT(pieces.front(), Catch::Contains(R"("progressToken":"t")"));
}

namespace {

struct arranged_flood : arranged_mcp
{
    arranged_flood() : arranged_mcp(routes())
    {
        emails_given = 0;
        on_email = [] {};
    }

    http::response wait()
    {
        return send(post(
            R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get_link","arguments":{)"
            "\"inboxId\":\"" +
            inbox_id::make().text() + R"("},"_meta":{"progressToken":"t"}}})"));
    }

private:
    static std::vector<route> routes()
    {
        std::vector<route> all;
        all.emplace_back("GET", "/v1/inboxes/{inboxId}/emails/wait", body_kind::none, give_email);
        all.push_back(mcp::endpoint());
        return all;
    }
};

} // namespace

TEST_CASE("a wait goes past fifty emails without a word, then says where to go on",
          "[gateway][mcp]")
{
    arranged_flood arranged;

    const auto response = arranged.wait();
    const auto piece = testing::await(response.source->next());

    CHECK(emails_given == 50);
    CHECK_THAT(piece, Catch::Contains(R"("outcome":"not_yet","after":50)"));
}

TEST_CASE("a client that hangs up between two emails ends its wait", "[gateway][mcp]")
{
    arranged_flood arranged;
    const auto response = arranged.wait();
    on_email = [&] {
        if (emails_given == 3)
            response.source->stop();
    };

    testing::await(response.source->next());

    CHECK(emails_given == 3);
}
