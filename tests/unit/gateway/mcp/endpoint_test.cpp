#include "gateway/mcp/endpoint.hpp"

#include "common/json/writer.hpp"
#include "common/testing/await.hpp"
#include "extract/codes.hpp"
#include "html/visible_page.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <optional>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const std::string handshake = "2025-11-25";

mcp::content_reader& contents()
{
    static mcp::content_reader reader(testing::test_host().executor(), 1);
    return reader;
}

awaitable<http::response> create(const http::request& received, const caller&)
{
    const auto key = received.header("Idempotency-Key").value_or("none");
    co_return http::created_json("{\"inboxId\":\"1\",\"key\":\"" + std::string(key) + "\"}",
                                 "/v1/inboxes/1");
}

// What an operation was called with, as an error of the tool.
awaitable<http::response> repeat_body(const http::request& received, const caller&)
{
    co_return http::error_response(400, received.body);
}

awaitable<http::response> repeat_query(const http::request& received, const caller&)
{
    std::string all;
    for (const auto& [name, value] : received.query)
        all += name + "=" + value + ";";
    co_return http::error_response(400, all);
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

// One email after the other, none with a code or a link, whatever is asked for.
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
    all.push_back(mcp::endpoint(contents()));
    return all;
}

// The endpoint without the checks before it, and operations of a test that it calls.
struct arranged_mcp
{
    explicit arranged_mcp(std::vector<route> all = scripted()) : operations(std::move(all))
    {
        who.state.account = account_id::make();
        who.call = [this](http::request& inner) { return call_operation(inner); };
    }

    awaitable<http::response> call_operation(http::request& received)
    {
        const auto target = operations.find(received);
        received.path_params = target.path.params;
        return target.operation->handle(received, who);
    }
    http::response send(http::request request) { return testing::await(call_operation(request)); }
    http::request post(const std::string& body, const std::string& revision = handshake)
    {
        auto request = testing::make_request("POST", "/mcp");
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

    routes operations;
    caller who;
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

TEST_CASE("a tool calls its operation", "[gateway][mcp]")
{
    arranged_mcp arranged;

    const auto result = arranged.call("create_inbox", R"({"name":"x"})");

    CHECK(result["structuredContent"]["inboxId"].text() == "1");
    CHECK(result["content"][0]["text"].text() == result["structuredContent"].to_string());
    CHECK_FALSE(result["isError"].boolean());
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

TEST_CASE("an empty argument is as if absent", "[gateway][mcp]")
{
    std::vector<route> repeating;
    repeating.emplace_back("POST", "/v1/inboxes", body_kind::json, repeat_body);
    repeating.emplace_back("GET", "/v1/inboxes", body_kind::none, repeat_query);
    repeating.emplace_back("PUT", "/v1/inboxes/{inboxId}/faults", body_kind::json, repeat_body);
    repeating.push_back(mcp::endpoint(contents()));
    arranged_mcp arranged(std::move(repeating));
    const auto error = [&](const char* tool, const std::string& arguments) {
        const auto result = arranged.call(tool, arguments);
        CHECK(result["isError"].boolean());
        return result["content"][0]["text"].text();
    };

    CHECK(error("create_inbox", R"({"name":"","domain":null,"tags":"","ttlSeconds":6e1,)"
                                R"("metadata":{"note":""}})") ==
          R"({"name":null,"domain":null,"tags":null,"ttlSeconds":60,"metadata":{"note":""}})");
    const auto in_inbox = R"({"inboxId":")" + inbox_id::make().text() + "\"";
    CHECK(error("set_faults", in_inbox + R"(,"steps":[{"stage":"rcpt","reply":"451 4.7.1 Later",)"
                                         R"("to":"","times":2.0,"cut":null}]})") ==
          R"({"steps":[{"stage":"rcpt","reply":"451 4.7.1 Later","times":2}]})");
    CHECK(error("set_faults", in_inbox + R"(,"steps":[]})") == R"({"steps":[]})");
    CHECK_THAT(error("set_faults", in_inbox + R"(,"steps":""})"),
               Catch::Contains("steps is required: an array of at most 20 objects"));
    CHECK_THAT(error("get_faults", in_inbox + R"(,"steps":[]})"), Catch::Contains("steps"));
    CHECK(error("list_inboxes", R"({"status":"","cursor":null,"limit":5.0})") == "limit=5;");
    CHECK(error("list_inboxes", R"({"order":"asc"})") == "order=asc;");
    CHECK(error("list_inboxes", "null").empty());
    CHECK(error("delete_inbox", R"({"inboxId":""})") ==
          "inboxId is required: a string of 1 to 100 characters");
    CHECK(error("read_email", R"({"emailId":null,"maxCharacters":""})") ==
          "emailId is required: a string of 1 to 100 characters");
    CHECK_THAT(error("wait_for_email", R"({"inboxId":""})"),
               Catch::Contains("inboxId is required"));
    CHECK_THAT(error("get_code", R"({"inboxId":"","emailId":""})"), Catch::Contains("either"));
    CHECK_THAT(error("get_code", R"({"inboxId":")" + inbox_id::make().text() +
                                     R"(","emailId":"","timeoutSeconds":1.5})"),
               Catch::Contains("timeoutSeconds must be an integer from 1 to 45, not 1.5"));
    CHECK_THAT(error("get_code", R"({"inboxId":"","colour":""})"), Catch::Contains("either"));
    CHECK_THAT(
        error("delete_inbox", R"({"inboxId":")" + inbox_id::make().text() + R"(","colour":""})"),
        Catch::Contains("colour is unknown here"));
}

TEST_CASE("a call without arguments or parameters has none", "[gateway][mcp]")
{
    arranged_mcp arranged;

    CHECK(
        arranged.result("tools/call", R"({"name":"create_inbox","arguments":null})")["result"].find(
            "structuredContent"));
    CHECK(arranged.result("tools/list", "null")["result"].find("tools"));
    CHECK(arranged.result("tools/list", R"({"cursor":""})")["result"].find("tools"));
    CHECK(arranged.result("tools/list", R"({"cursor":null})")["result"].find("tools"));
    CHECK(arranged.result("tools/call", "null")["error"]["code"].integer() == -32602);
    CHECK(arranged.result("tools/call", R"({"name":"get_code","arguments":"x"})")["error"]["code"]
              .integer() == -32602);
}

TEST_CASE("arguments that grow when they are written out are still read", "[gateway][mcp]")
{
    arranged_mcp arranged;
    std::string tags = "[1e18";
    while (tags.size() < 60'000)
        tags += ",1e18";

    const auto result = arranged.call("list_inboxes", R"({"tag":)" + tags + "]}");

    CHECK_THAT(result["content"][0]["text"].text(), Catch::Contains("tag must be"));
}

TEST_CASE("a wait for a code or a link asks for mail that has one", "[gateway][mcp]")
{
    std::vector<route> repeating;
    repeating.emplace_back("GET", "/v1/inboxes/{inboxId}/emails/wait", body_kind::none,
                           repeat_query);
    repeating.push_back(mcp::endpoint(contents()));
    arranged_mcp arranged(std::move(repeating));
    const auto query_of = [&](const std::string& tool, const std::string& more) {
        const auto inbox = inbox_id::make().text();
        const auto result = arranged.call(tool, "{\"inboxId\":\"" + inbox + "\"" + more + "}");
        return result["content"][0]["text"].text();
    };

    CHECK_THAT(query_of("get_code", ""), Catch::Contains("hasCode=true;"));
    const auto any = query_of("get_link", "");
    CHECK_THAT(any, Catch::Contains("hasLink=true;") && !Catch::Contains("linkKind"));
    const auto reset = query_of("get_link", R"(,"kind":"reset")");
    CHECK_THAT(reset, Catch::Contains("linkKind=reset;") && !Catch::Contains("hasLink"));
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
    arranged_flood() : arranged_mcp(flood())
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
    static std::vector<route> flood()
    {
        std::vector<route> all;
        all.emplace_back("GET", "/v1/inboxes/{inboxId}/emails/wait", body_kind::none, give_email);
        all.push_back(mcp::endpoint(contents()));
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

namespace {

constexpr std::size_t page_bytes = 512 * 1024;

// Many elements that each look up many rules: hundreds of milliseconds, were all of it read. Where
// tags differ none is like another.
std::string costly_html(bool do_tags_differ)
{
    std::string html = "<style>";
    for (char a = 'a'; a <= 'h'; ++a)
        for (char b = 'a'; b <= 'h'; ++b)
            html += std::string(".") + a + " ." + b + ",." + a + ">." + b + ",";
    html += "i{display:block;opacity:1;width:9px;height:9px;top:1px;left:1px}</style>"
            "<a href='https://shop.example/x'>x</a>";
    for (int i = 0; html.size() < page_bytes; ++i)
        html += "<b class='a b c d e f g h'" +
                (do_tags_differ ? " n=" + std::to_string(i) : std::string()) + ">x";
    return html;
}

// As /v1 writes it.
std::string email_json(std::int64_t sequence, const std::string& html)
{
    const std::optional page = html::read_visible_page(html);
    json::writer out;
    out.begin_object().member("emailId", email_id::make().text()).member("inboxId", "i");
    out.member("sequence", sequence).member("receivedAt", "2026-11-21T12:00:00Z");
    out.member("from", "a@sender.example").member("fromName", "a").member("subject", "s");
    out.key("to").begin_array().end_array();
    out.member("text", "").member("html", html);
    out.key("codes").begin_array();
    for (const auto& code : extract::find_codes("s", std::nullopt, page))
        out.begin_object().member("value", code.value).end_object();
    out.end_array().key("links").begin_array();
    for (const auto& link : extract::find_links(std::nullopt, page)) {
        out.begin_object().member("kind", link.kind).member("url", link.url);
        out.member("text", link.text).end_object();
    }
    out.end_array().key("attachments").begin_array().end_array();
    out.key("defects").begin_array();
    if (page->is_cut)
        out.value("html_cut");
    return out.end_array().end_object().take();
}

// An endpoint whose inbox gets one email after the other, all with the same HTML, whatever a wait
// asks for.
struct arranged_pages : arranged_mcp
{
    explicit arranged_pages(const std::string& html, mcp::content_reader& reader = contents())
        : arranged_mcp(scripted(reader))
    {
        email() = email_json(1, html);
        emails_given = 0;
    }

    json::value content(const std::string& tool, const std::string& arguments)
    {
        return call(tool, arguments)["structuredContent"];
    }
    // As `send`, but the loop sleeps until something comes: testing::await wakes up every 5 ms, and
    // that takes time of the loop itself.
    http::response answer(http::request request)
    {
        auto& loop = testing::test_host().loop();
        const auto busy = boost::asio::make_work_guard(loop);
        std::optional<http::response> response;
        boost::asio::co_spawn(loop,
                              testing::detail::store_result(call_operation(request), response),
                              boost::asio::detached);
        loop.restart();
        while (!response)
            loop.run_one();
        return std::move(*response);
    }
    // The processor time of the loop in milliseconds, the least of several calls: other load does
    // not show in it, nor what other threads do.
    double loop_time(const http::request& request)
    {
        const auto now = [] {
            std::timespec time{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
        };
        auto least = std::numeric_limits<double>::max();
        for (int i = 0; i < 20; ++i) {
            const auto began = now();
            CHECK(answer(request).status == 200);
            least = std::min(least, now() - began);
        }
        return least;
    }
    http::request request_of(const std::string& tool, const std::string& arguments)
    {
        return post(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool +
                    R"(","arguments":)" + arguments + "}}");
    }

    static std::string& email()
    {
        static std::string json;
        return json;
    }

private:
    static awaitable<http::response> get_email(const http::request&, const caller&)
    {
        co_return http::ok_json(email());
    }
    static awaitable<http::response> await_email(const http::request& received, const caller&)
    {
        ++emails_given;
        const auto after = std::stoll(std::string(*received.query_param("after")));
        auto json = email();
        const std::string first = "\"sequence\":1,";
        json.replace(json.find(first), first.size(),
                     "\"sequence\":" + std::to_string(after + 1) + ",");
        co_return http::ok_json(R"({"outcome":"matched","email":)" + json + "}");
    }
    static std::vector<route> scripted(mcp::content_reader& reader)
    {
        std::vector<route> all;
        all.emplace_back("GET", "/v1/inboxes/{inboxId}/emails/wait", body_kind::none, await_email);
        all.emplace_back("GET", "/v1/emails/{emailId}", body_kind::none, get_email);
        all.push_back(mcp::endpoint(reader));
        return all;
    }
};

std::string by_email()
{
    return "{\"emailId\":\"" + email_id::make().text() + "\"}";
}

std::string by_inbox(const std::string& kind)
{
    return "{\"inboxId\":\"" + inbox_id::make().text() + R"(","kind":")" + kind + "\"}";
}

} // namespace

TEST_CASE("a mail made to take long holds the loop for two milliseconds at most", "[gateway][mcp]")
{
#ifdef __OPTIMIZE__
    constexpr double max_milliseconds = 2;
#else
    constexpr double max_milliseconds = 10; // a build with sanitizers takes several times as long
#endif
    for (const bool do_tags_differ : {false, true}) {
        arranged_pages arranged(costly_html(do_tags_differ));

        CHECK(arranged.loop_time(arranged.request_of("read_email", by_email())) < max_milliseconds);
        CHECK(arranged.loop_time(arranged.request_of("get_link", by_email())) < max_milliseconds);
        CHECK(arranged.loop_time(arranged.request_of("get_code", by_email())) < max_milliseconds);
        CHECK(arranged.loop_time(arranged.request_of("get_link", by_inbox("other"))) <
              max_milliseconds);
    }
}

TEST_CASE("the loop goes on while a mail is read", "[gateway][mcp]")
{
    arranged_pages arranged(costly_html(true));
    int turns = 0;
    bool is_read = false, has_ended = false;
    const std::function<void()> turn = [&] {
        ++turns;
        has_ended = is_read;
        if (!is_read)
            boost::asio::post(testing::test_host().loop(), turn);
    };
    boost::asio::post(testing::test_host().loop(), turn);

    arranged.call("read_email", by_email());
    is_read = true;
    REQUIRE(testing::eventually([&] { return has_ended; }));

    CHECK(turns > 100);
}

TEST_CASE("what a mail has past its work is not in a result, which says so", "[gateway][mcp]")
{
    const auto end = "<p>Your code is 482913 <a href='https://shop.example/late'>x</a></p>";
    arranged_pages arranged(costly_html(true) + end);

    const auto read = arranged.content("read_email", by_email());
    const auto link = arranged.content("get_link", by_email());
    const auto code = arranged.content("get_code", by_email());

    CHECK(read["isCut"].boolean());
    CHECK(read["codes"].size() == 0);
    CHECK(read["hiddenCharactersRemoved"].integer() > 1'000);
    CHECK(link["outcome"].text() == "found"); // it stands at the beginning
    CHECK(link["isCut"].boolean());
    CHECK(code["outcome"].text() == "none");
    CHECK(code["isCut"].boolean());
    arranged_pages plain("<a href='https://shop.example/x'>x</a>");
    CHECK_FALSE(plain.content("get_link", by_email())["isCut"].boolean());
}

TEST_CASE("a wait looks into so much of mails, then says where to go on", "[gateway][mcp]")
{
    arranged_pages costly(costly_html(true));
    const auto after_costly = costly.content("get_link", by_inbox("reset"));
    const auto costly_given = emails_given;
    arranged_pages small("<a href='https://shop.example/x'>x</a>");
    const auto after_small = small.content("get_link", by_inbox("reset"));

    CHECK(after_costly["outcome"].text() == "not_yet");
    CHECK(after_costly["after"].integer() == costly_given);
    CHECK(after_costly["isCut"].boolean());
    CHECK(costly_given < 50);
    CHECK(after_small["after"].integer() == 50);
    CHECK_FALSE(after_small["isCut"].boolean());
}

TEST_CASE("where too many mails are being read a tool says so", "[gateway][mcp]")
{
    mcp::content_reader full(testing::test_host().executor(), 1, 0);
    arranged_pages arranged("<p>x</p>", full);

    for (const auto* tool : {"read_email", "get_code", "get_link"}) {
        const auto result = arranged.call(tool, by_email());
        CHECK(result["isError"].boolean());
        CHECK(result["content"][0]["text"].text() ==
              "Too many emails are being read; try again. Try again in 1 s.");
    }
    CHECK(arranged.call("get_link", by_inbox("reset"))["isError"].boolean());
}
