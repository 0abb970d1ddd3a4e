#include "unit/common/http/raw_client.hpp"
#include "unit/common/rpc/calls.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
using testing::rpc_token;

namespace {

const std::string method_path = "/" + std::string(testing::take_quota.path);

// A call as curl sends it.
struct raw_call
{
    std::string verb = "POST";
    std::string path = method_path;
    std::string headers =
        "Content-Type: application/json\r\nAuthorization: Bearer " + rpc_token + "\r\n";
    std::string body = R"({"items":[{"accountId":"a","units":"5"}]})";
};

std::string response_to(const raw_call& call)
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    testing::raw_client client(running.server.local_address());
    client.send(call.verb + " " + call.path + " HTTP/1.1\r\nHost: h\r\n" + call.headers +
                "Content-Length: " + std::to_string(call.body.size()) + "\r\n\r\n" + call.body);
    return client.read_response();
}

} // namespace

TEST_CASE("a call in JSON is answered in JSON", "[rpc]")
{
    const auto http_response = response_to({});

    CHECK_THAT(http_response, StartsWith("HTTP/1.1 200 OK\r\n") &&
                                  Contains("\r\nContent-Type: application/json\r\n"));
    CHECK_THAT(http_response, EndsWith(R"({"results":[{"granted":"5"}]})"));
}

TEST_CASE("a call in Protobuf is answered in Protobuf", "[rpc]")
{
    raw_call call;
    call.headers = "Content-Type: application/proto\r\nConnect-Protocol-Version: "
                   "1\r\nConnect-Timeout-Ms: 5000\r\nAuthorization: bearer " +
                   rpc_token + "\r\n";
    call.body = testing::quota_request(7).SerializeAsString();

    const auto http_response = response_to(call);

    CHECK_THAT(http_response, StartsWith("HTTP/1.1 200 OK\r\n") &&
                                  Contains("\r\nContent-Type: application/proto\r\n"));
    testing::TakeQuotaResponse response;
    REQUIRE(response.ParseFromString(http_response.substr(http_response.find("\r\n\r\n") + 4)));
    CHECK(response.results(0).granted() == 7);
}

TEST_CASE("a call without a valid token is unauthenticated, whatever it asks", "[rpc]")
{
    for (const auto* headers : {"", "Authorization: Bearer wrong-token-0123456789\r\n",
                                "Authorization: Basic abc\r\n", "Authorization: Bearer \r\n"}) {
        raw_call call;
        call.headers = std::string("Content-Type: application/json\r\n") + headers;
        CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 401 ") &&
                                          Contains(R"({"code":"unauthenticated","message":)"));
        call.path = "/no.such.Service/Method";
        CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 401 "));
    }
}

TEST_CASE("a caller without a token is refused before its body is read", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    testing::raw_client client(running.server.local_address());

    client.send("POST " + method_path +
                " HTTP/1.1\r\nHost: h\r\nContent-Type: application/proto\r\n" +
                "Content-Length: 1000000\r\n\r\n");

    CHECK_THAT(client.read_response(), StartsWith("HTTP/1.1 401 ") &&
                                           Contains("\r\nConnection: close\r\n") &&
                                           Contains("unauthenticated"));
}

TEST_CASE("a body over 1 MiB is refused before it comes, unless a service takes more", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    testing::raw_client client(running.server.local_address());

    client.send(
        "POST " + method_path +
        " HTTP/1.1\r\nHost: h\r\nContent-Type: application/proto\r\nAuthorization: Bearer " +
        rpc_token + "\r\nContent-Length: 1048577\r\n\r\n");

    CHECK_THAT(client.read_response(),
               StartsWith("HTTP/1.1 400 ") && Contains(R"("code":"out_of_range")"));
}

TEST_CASE("what is no call is refused as the Connect protocol says", "[rpc]")
{
    raw_call unknown;
    unknown.path = "/tempinbox.ratelimit.v1.RateLimitService/Nothing";
    CHECK_THAT(response_to(unknown),
               StartsWith("HTTP/1.1 404 ") && Contains(R"("code":"unimplemented")"));

    raw_call get;
    get.verb = "GET";
    CHECK_THAT(response_to(get), StartsWith("HTTP/1.1 405 ") && Contains("\r\nAllow: POST\r\n"));

    raw_call text;
    text.headers = "Content-Type: text/plain\r\nAuthorization: Bearer " + rpc_token + "\r\n";
    CHECK_THAT(response_to(text), StartsWith("HTTP/1.1 415 ") && Contains("\r\nAccept-Post: "));

    raw_call timeout;
    timeout.headers += "Connect-Timeout-Ms: soon\r\n";
    CHECK_THAT(response_to(timeout),
               StartsWith("HTTP/1.1 400 ") && Contains(R"("code":"invalid_argument")"));
}

TEST_CASE("a body that is not the request is an invalid argument", "[rpc]")
{
    raw_call call;
    call.body = R"({"items":[{"acountId":"a"}]})";
    CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 400 ") &&
                                      Contains(R"("code":"invalid_argument")") &&
                                      Contains("acountId"));
    call.body = "{";
    CHECK_THAT(response_to(call),
               StartsWith("HTTP/1.1 400 ") && Contains(R"("code":"invalid_argument")"));
    call.body = R"({"items":[{"units":"many"}]})";
    CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 400 ") && Contains("units"));
    call.headers = "Content-Type: application/proto\r\nAuthorization: Bearer " + rpc_token + "\r\n";
    call.body = "\xff\xff";
    CHECK_THAT(response_to(call),
               StartsWith("HTTP/1.1 400 ") && Contains(R"("code":"invalid_argument")"));
}

TEST_CASE("an empty JSON body is an empty request", "[rpc]")
{
    raw_call call;
    call.body = "";

    CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 200 ") && EndsWith("\r\n\r\n{}"));
}

TEST_CASE("failures and exceptions of a handler become Connect errors without details", "[rpc]")
{
    raw_call call;
    call.body = R"({"items":[{"accountId":"a","units":"-1"}]})";
    CHECK_THAT(response_to(call),
               StartsWith("HTTP/1.1 409 ") &&
                   EndsWith(R"({"code":"already_exists","message":"already taken: a",)"
                            R"("reason":"address_taken"})"));
    call.body = R"({"items":[{"units":"-2"}]})";
    CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 503 ") &&
                                      Contains(R"("code":"unavailable")") &&
                                      !Contains("PostgreSQL"));
    call.body = R"({"items":[{"units":"-3"}]})";
    CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 500 ") && Contains(R"("code":"internal")") &&
                                      !Contains("secret"));
}

TEST_CASE("calls may be larger than an HTTP body of the API", "[rpc]")
{
    raw_call call;
    call.body = R"({"items":[{"accountId":")" + std::string(200'000, 'x') + R"(","units":"1"}]})";

    CHECK_THAT(response_to(call), StartsWith("HTTP/1.1 200 "));
}
