#include "common/rpc/inbox_methods.hpp"
#include "unit/common/http/running_server.hpp"
#include "unit/common/http/scripted_server.hpp"
#include "unit/common/rpc/calls.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace tempinbox;
using Catch::Contains;
using std::chrono::milliseconds;
using testing::running_rpc_server;
using testing::scripted_server;
using testing::TakeQuotaRequest;
using testing::TakeQuotaResponse;

namespace {

result<TakeQuotaResponse> take(rpc::client& client, std::int64_t units,
                               milliseconds deadline = std::chrono::seconds(5))
{
    return testing::await(
        client.call(testing::take_quota, testing::quota_request(units), deadline));
}

awaitable<void> take_into(rpc::client& client, std::vector<result<TakeQuotaResponse>>& responses)
{
    auto response = co_await client.call(testing::take_quota, testing::quota_request(1));
    responses.push_back(std::move(response));
}

// How many calls the metrics of the test host have for a method and a code.
int calls_of(const std::string& service, const std::string& method, const std::string& code)
{
    const auto series = "\ntempinbox_rpc_client_duration_seconds_count{code=\"" + code +
                        "\",method=\"" + method + "\",service=\"tempinbox.ratelimit.v1." + service +
                        "\"} ";
    const auto text = testing::test_host().metrics().text();
    const auto found = text.find(series);
    return found == std::string::npos ? 0 : std::stoi(text.substr(found + series.size(), 20));
}

// An address where nobody listens.
host_port nobody()
{
    const scripted_server gone({});
    return gone.address();
}

} // namespace

TEST_CASE("a call goes to the server and back", "[rpc]")
{
    testing::token_file file;
    running_rpc_server running(file.tokens);
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens);

    const auto response = take(client, 3);

    REQUIRE(response);
    CHECK(response->results(0).granted() == 3);
}

TEST_CASE("a failure of the handler arrives as it was", "[rpc]")
{
    testing::token_file file;
    running_rpc_server running(file.tokens);
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens);

    const auto conflict = take(client, -1);
    const auto away = take(client, -2);
    const auto bug = take(client, -3);

    REQUIRE_FALSE(conflict);
    CHECK(conflict.error().code == errc::conflict);
    CHECK(conflict.error().message == "already taken: a");
    CHECK(conflict.error().reason == error_reason::address_taken);
    CHECK(away.error().code == errc::unavailable);
    CHECK(bug.error().code == errc::internal);
}

TEST_CASE("replicas are called in turn", "[rpc]")
{
    testing::token_file file;
    const std::string empty_response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    scripted_server one({testing::script({empty_response, empty_response})});
    scripted_server two({testing::script({empty_response, empty_response})});
    rpc::client client(testing::test_host(), {one.address(), two.address()}, file.tokens);

    for (int i = 0; i < 4; ++i)
        REQUIRE(take(client, 1));

    CHECK(one.requests().size() == 2);
    CHECK(two.requests().size() == 2);
    CHECK_THAT(
        one.requests()[0],
        Catch::StartsWith("POST /tempinbox.ratelimit.v1.RateLimitService/TakeQuota HTTP/1.1\r\n"));
    CHECK_THAT(one.requests()[0], Contains("\r\nContent-Type: application/proto\r\n") &&
                                      Contains("\r\nConnect-Protocol-Version: 1\r\n") &&
                                      Contains("\r\nConnect-Timeout-Ms: ") &&
                                      Contains("\r\nAuthorization: Bearer " + testing::rpc_token));
}

TEST_CASE("a replica that refuses the connection is passed over", "[rpc]")
{
    testing::token_file file;
    running_rpc_server running(file.tokens);
    rpc::client client(testing::test_host(), {nobody(), running.server.local_address(), nobody()},
                       file.tokens);

    for (int i = 0; i < 6; ++i)
        CHECK(take(client, 1));
}

TEST_CASE("without any replica a call is unavailable", "[rpc]")
{
    testing::token_file file;
    rpc::client client(testing::test_host(), {nobody(), nobody()}, file.tokens);

    const auto response = take(client, 1);

    REQUIRE_FALSE(response);
    CHECK(response.error().code == errc::unavailable);
}

TEST_CASE("a replica that comes back is called again", "[rpc]")
{
    testing::token_file file;
    const auto address = nobody();
    rpc::client client(testing::test_host(), {address}, file.tokens);
    REQUIRE_FALSE(take(client, 1));

    running_rpc_server running(file.tokens, address);

    CHECK(take(client, 1));
}

// As in a rolling restart: when the next replica stops, one is back already but still backing off.
TEST_CASE("every one of many calls at a time is tried on each replica, also if all back off",
          "[rpc]")
{
    constexpr std::size_t calls = 9;
    testing::token_file file;
    const auto back_soon = nobody();
    rpc::client client(testing::test_host(), {nobody(), back_soon}, file.tokens);
    REQUIRE_FALSE(take(client, 1));
    running_rpc_server running(file.tokens, back_soon);

    std::vector<result<TakeQuotaResponse>> responses;
    for (std::size_t i = 0; i < calls; ++i)
        boost::asio::co_spawn(testing::test_host().loop(), take_into(client, responses),
                              boost::asio::detached);

    REQUIRE(testing::eventually([&] { return responses.size() == calls; }));
    for (const auto& response : responses)
        CHECK(response);
}

TEST_CASE("a call that was received is not repeated at another replica", "[rpc]")
{
    testing::token_file file;
    scripted_server dying({testing::script({""}, false)});
    scripted_server other({testing::script({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"})});
    rpc::client client(testing::test_host(), {dying.address(), other.address()}, file.tokens);

    const auto response = take(client, 1);

    REQUIRE_FALSE(response);
    CHECK(response.error().code == errc::unavailable);
    CHECK(other.requests().empty());
}

TEST_CASE("a call ends at its deadline", "[rpc]")
{
    testing::token_file file;
    scripted_server silent({testing::script({""})});
    rpc::client client(testing::test_host(), {silent.address()}, file.tokens);

    const auto response = take(client, 1, milliseconds(40));

    REQUIRE_FALSE(response);
    CHECK(response.error().code == errc::deadline_exceeded);
}

TEST_CASE("answers that are not Connect's become failures", "[rpc]")
{
    testing::token_file file;
    const auto code_of = [&file](const std::string& bytes) {
        scripted_server odd({testing::script({bytes}, false)});
        rpc::client client(testing::test_host(), {odd.address()}, file.tokens);
        const auto response = take(client, 1);
        return response ? std::string("a value") : std::string(to_string(response.error().code));
    };

    CHECK(code_of("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>") == "unavailable");
    CHECK(code_of("HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n") == "internal");
    CHECK(code_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xff") == "internal");
    CHECK(code_of("garbage\r\n\r\n") == "unavailable");
}

TEST_CASE("a server that rotated its token refuses the old client", "[rpc]")
{
    testing::token_file servers;
    testing::scratch_folder folder;
    auto& files = testing::test_host().files();
    rpc::tokens others(files, "client-token-file",
                       folder.write("tokens", "another-token-0123456789\n"));
    running_rpc_server running(servers.tokens);
    rpc::client client(testing::test_host(), {running.server.local_address()}, others);
    REQUIRE(take(client, 1).error().code == errc::unauthenticated);

    folder.write("tokens", testing::rpc_token + "\n");
    files.check();

    CHECK(take(client, 1).has_value());
}

TEST_CASE("calls are measured by their method and the code of their outcome", "[rpc]")
{
    testing::token_file file;
    running_rpc_server running(file.tokens);
    rpc::client one(testing::test_host(), {running.server.local_address()}, file.tokens);
    rpc::client other(testing::test_host(), {running.server.local_address()}, file.tokens);
    // A name that is gone when the next call comes, as no constant is.
    const auto call_missing = [&one](char last) {
        const auto path = std::string("tempinbox.ratelimit.v1.Missing/Call") + last;
        const rpc::method<TakeQuotaRequest, TakeQuotaResponse> missing{path};
        return testing::await(one.call(missing, testing::quota_request(1)));
    };
    const auto good = calls_of("RateLimitService", "TakeQuota", "ok");
    const auto refused = calls_of("RateLimitService", "TakeQuota", "already_exists");

    REQUIRE(take(one, 1));
    REQUIRE(take(one, 2));
    REQUIRE(take(other, 1));
    REQUIRE_FALSE(take(one, -1));
    REQUIRE_FALSE(call_missing('A'));
    REQUIRE_FALSE(call_missing('B'));
    REQUIRE_FALSE(call_missing('A'));

    CHECK(calls_of("RateLimitService", "TakeQuota", "ok") == good + 3);
    CHECK(calls_of("RateLimitService", "TakeQuota", "already_exists") == refused + 1);
    const auto missing = [](const char* method) {
        return calls_of("Missing", method, "internal") +
               calls_of("Missing", method, "unavailable") +
               calls_of("Missing", method, "unimplemented");
    };
    CHECK(missing("CallA") == 2);
    CHECK(missing("CallB") == 1);
}

TEST_CASE("what must not be done twice is not sent again by a connection that was kept", "[rpc]")
{
    const std::string done =
        "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 0\r\n\r\n";
    const bool is_once = GENERATE(true, false);
    testing::token_file file;
    // Its first process ends with the second request, perhaps after its work was done.
    scripted_server replica({testing::script({done, ""}, false), testing::script({done})});
    rpc::client client(testing::test_host(), {replica.address()}, file.tokens);
    const auto call = [&] {
        return is_once ? testing::await(client.call(inbox_methods::delete_inbox, {})).has_value()
                       : testing::await(client.call(inbox_methods::get_inbox, {})).has_value();
    };
    REQUIRE(call());

    CHECK(call() == !is_once);

    CHECK(replica.requests().size() == (is_once ? 2 : 3));
}

TEST_CASE("what reaches a replica that is ending is carried out by another, and once", "[rpc]")
{
    const std::string done =
        "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 0\r\n\r\n";
    const std::string goaway = "HTTP/1.1 503 Service Unavailable\r\nTempinbox-Goaway: 1\r\n"
                               "Connection: close\r\nContent-Length: 0\r\n\r\n";
    testing::token_file file;
    scripted_server ending({testing::script({done, goaway})});
    scripted_server other({testing::script({done, done})});
    rpc::client client(testing::test_host(), {ending.address(), other.address()}, file.tokens);
    const auto call = [&client] {
        return testing::await(client.call(inbox_methods::delete_inbox, {})).has_value();
    };
    REQUIRE(call());
    REQUIRE(call());

    CHECK(call());

    CHECK(ending.requests().size() == 2);
    CHECK(other.requests().size() == 2);
}
