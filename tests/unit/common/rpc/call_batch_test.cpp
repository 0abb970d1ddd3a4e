#include "common/rpc/call_batch.hpp"

#include "common/async/reset_event.hpp"
#include "common/http/client.hpp"
#include "common/rpc/inbox_methods.hpp"
#include "unit/common/http/scripted_server.hpp"
#include "unit/common/rpc/calls.hpp"
#include "unit/common/rpc/in_process_services.hpp"

#include "tempinbox/rpc/v1/calls.pb.h"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <optional>

using namespace tempinbox;
using namespace std::chrono_literals;
using testing::TakeQuotaRequest;
using testing::TakeQuotaResponse;

namespace {

using responses = std::map<std::int64_t, result<TakeQuotaResponse>>;

awaitable<void> take_into(rpc::client& client, std::int64_t units, responses& all,
                          std::chrono::milliseconds timeout = 5s)
{
    auto called = testing::take_quota;
    called.timeout = timeout;
    auto response =
        co_await client.call_batched(called, testing::quota_request(units), uuid::make_v7());
    all.emplace(units, std::move(response));
}

// Calls at the same time; their responses by units.
responses take_all(rpc::client& client, std::vector<std::int64_t> units)
{
    responses all;
    for (const auto each : units)
        boost::asio::co_spawn(testing::test_host().loop(), take_into(client, each, all),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == units.size(); }));
    return all;
}

// Notes the type of each request on its way.
struct watched_connections
{
    http::client connections{testing::test_host(), {}};
    std::vector<std::string> types;

    rpc::client_settings settings()
    {
        rpc::client_settings chosen;
        chosen.send = [this](http::client_request outgoing) {
            types.emplace_back(http::find_header(outgoing.headers, "Content-Type").value());
            return connections.send(std::move(outgoing));
        };
        return chosen;
    }
};

// An answer of 3 MiB.
awaitable<result<inbox::v1::GetRawEmailResponse>> read_large(inbox::v1::GetRawEmailRequest request)
{
    inbox::v1::GetRawEmailResponse response;
    response.set_size_bytes(std::stoll(request.email_id()));
    response.set_raw(std::string(3 * 1024 * 1024, 'x'));
    co_return response;
}

awaitable<void> read_into(rpc::client& client, std::string id,
                          std::vector<inbox::v1::GetRawEmailResponse>& all)
{
    inbox::v1::GetRawEmailRequest request;
    request.set_email_id(std::move(id));
    const auto response =
        co_await client.call_batched(inbox_methods::get_raw_email, request, uuid::make_v7());
    all.push_back(response.value());
}

using raw_emails = std::map<std::string, result<inbox::v1::GetRawEmailResponse>>;

// Answered when nine tenths of the timeout are over, at the latest.
awaitable<void> read_in_time(rpc::client& client, std::string id, raw_emails& all,
                             std::chrono::milliseconds timeout = 3s)
{
    auto called = inbox_methods::get_raw_email;
    called.timeout = timeout;
    inbox::v1::GetRawEmailRequest request;
    request.set_email_id(id);
    auto answered = co_await client.call_batched(called, request, uuid::make_v7());
    all.emplace(std::move(id), std::move(answered));
}

// Who asks for an id that begins so waits.
awaitable<result<inbox::v1::GetRawEmailResponse>>
answer_slowly(inbox::v1::GetRawEmailRequest request, async::reset_event& released, bool& has_ended)
{
    if (request.email_id().starts_with("slow")) {
        co_await released.wait();
        has_ended = true;
    }
    inbox::v1::GetRawEmailResponse response;
    response.set_size_bytes(static_cast<std::int64_t>(request.email_id().size()));
    co_return response;
}

} // namespace

TEST_CASE("calls that come together go in one request, and each is answered for itself", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    watched_connections watched;
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens,
                       watched.settings());

    const auto all = take_all(client, {1, -1, 2, -2, -3, 3});

    CHECK(watched.types == std::vector<std::string>{std::string(rpc::calls_type)});
    for (const int good : {1, 2, 3})
        CHECK(all.at(good).value().results(0).granted() == good);
    CHECK(all.at(-1).error().code == errc::conflict);
    CHECK(all.at(-1).error().message == "already taken: a");
    CHECK(all.at(-1).error().reason == error_reason::address_taken);
    CHECK(all.at(-2).error().code == errc::unavailable);
    CHECK(all.at(-3).error().code == errc::internal);
}

TEST_CASE("a call that comes alone is an ordinary one", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    watched_connections watched;
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens,
                       watched.settings());

    CHECK(take_all(client, {7}).at(7).value().results(0).granted() == 7);

    CHECK(watched.types == std::vector<std::string>{"application/proto"});
}

TEST_CASE("calls that come while a request is under way go in the next", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    watched_connections watched;
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens,
                       watched.settings());
    responses all;
    const auto begin = [&](std::int64_t units) {
        boost::asio::co_spawn(testing::test_host().loop(), take_into(client, units, all),
                              boost::asio::detached);
    };

    begin(1);
    REQUIRE(testing::eventually([&] { return watched.types.size() == 1; }));
    for (const auto units : {2, 3, 4})
        begin(units);
    REQUIRE(testing::eventually([&] { return all.size() == 4; }));

    CHECK(watched.types.size() == 2);
}

TEST_CASE("a replica that takes one call at a time gets each by itself", "[rpc]")
{
    testing::in_process_services older;
    int calls = 0;
    older.add(testing::take_quota, [&](TakeQuotaRequest request) {
        ++calls;
        return testing::grant(std::move(request));
    });
    rpc::client client(testing::test_host(), {older.anywhere()}, older.tokens(),
                       older.client_settings());

    for (int i = 0; i < 2; ++i) {
        const auto all = take_all(client, {1, 2, -1});
        CHECK(all.at(1).value().results(0).granted() == 1);
        CHECK(all.at(2).value().results(0).granted() == 2);
        CHECK(all.at(-1).error().code == errc::conflict);
    }
    CHECK(calls == 6);
}

TEST_CASE("answers that are too large together come one by one", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    running.server.add(inbox_methods::get_raw_email, read_large);
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens);
    std::vector<inbox::v1::GetRawEmailResponse> all;

    for (const auto* id : {"1", "2", "3"})
        boost::asio::co_spawn(testing::test_host().loop(), read_into(client, id, all),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == 3; }));

    std::int64_t sum = 0;
    for (const auto& one : all) {
        CHECK(one.raw().size() == 3 * 1024 * 1024);
        sum += one.size_bytes();
    }
    CHECK(sum == 6);
}

TEST_CASE("calls that have ended are answered while a slow one beside them goes on", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    async::reset_event released(testing::test_host().executor());
    bool has_ended = false;
    running.server.add(inbox_methods::get_raw_email, [&](inbox::v1::GetRawEmailRequest received) {
        return answer_slowly(std::move(received), released, has_ended);
    });
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens);
    raw_emails all;

    for (const auto* id : {"first", "slow", "second"})
        boost::asio::co_spawn(testing::test_host().loop(), read_in_time(client, id, all, 60s),
                              boost::asio::detached);
    const bool are_answered = testing::eventually([&] { return all.size() == 2; });
    released.set();
    REQUIRE(testing::eventually([&] { return all.size() == 3; }));

    CHECK(are_answered);
    for (const auto* id : {"first", "slow", "second"}) {
        REQUIRE(all.at(id));
        CHECK(all.at(id).value().size_bytes() == static_cast<int>(std::string(id).size()));
    }
}

TEST_CASE("slow calls do not hold up those that come later, however many there are", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    async::reset_event released(testing::test_host().executor());
    bool has_ended = false;
    running.server.add(inbox_methods::get_raw_email, [&](inbox::v1::GetRawEmailRequest received) {
        return answer_slowly(std::move(received), released, has_ended);
    });
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens);
    raw_emails slow, all;
    const auto begin = [&](const std::string& id, raw_emails& to) {
        boost::asio::co_spawn(testing::test_host().loop(), read_in_time(client, id, to, 300s),
                              boost::asio::detached);
    };

    // More requests than may be under way at a time.
    std::size_t answered = 0;
    for (int i = 0; i < 12; ++i) {
        begin("slow " + std::to_string(i), slow);
        begin("fast " + std::to_string(i), all);
        answered += testing::eventually([&] { return all.size() > answered; }) ? 1 : 0;
    }
    released.set();
    REQUIRE(testing::eventually([&] { return all.size() == 12 && slow.size() == 12; }));

    CHECK(answered == 12);
}

TEST_CASE("a caller that takes results only together gets them in the order of the calls", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    async::reset_event released(testing::test_host().executor());
    bool has_ended = false;
    running.server.add(inbox_methods::get_raw_email, [&](inbox::v1::GetRawEmailRequest received) {
        return answer_slowly(std::move(received), released, has_ended);
    });
    http::client connections(testing::test_host(), {});
    rpc::v1::Calls calls;
    for (const auto* id : {"slow", "other"}) {
        inbox::v1::GetRawEmailRequest request;
        request.set_email_id(id);
        calls.add_calls()->set_request(request.SerializeAsString());
    }
    http::client_request request;
    request.method = "POST";
    request.url = "http://" + running.server.local_address().text() + "/" +
                  std::string(inbox_methods::get_raw_email.path);
    request.headers = {{"Content-Type", std::string(rpc::calls_type)},
                       {"Authorization", "Bearer " + testing::rpc_token},
                       {"Connect-Timeout-Ms", "200"}};
    request.body = calls.SerializeAsString();

    const auto response = testing::await(connections.send(request));
    released.set();

    rpc::v1::CallResults results;
    REQUIRE(results.ParseFromString(response.body));
    REQUIRE(results.results_size() == 2);
    CHECK(results.results(0).code() == "deadline_exceeded");
    CHECK(results.results(1).code().empty());
    CHECK_FALSE(results.results(1).has_call_index());
    CHECK(testing::eventually([&] { return has_ended; }));
}

TEST_CASE("results that came before the connection broke are kept, the others have failed", "[rpc]")
{
    testing::token_file file;
    rpc::v1::CallResults piece;
    inbox::v1::GetRawEmailResponse good;
    good.set_size_bytes(7);
    auto& result = *piece.add_results();
    result.set_response(good.SerializeAsString());
    result.set_call_index(1);
    const auto bytes = piece.SerializeAsString();
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.tempinbox.calls\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n";
    REQUIRE(bytes.size() < 16);
    const std::string chunk = std::string("0") + "0123456789abcdef"[bytes.size()];
    testing::scripted_server server(
        {testing::script({head + chunk + "\r\n" + bytes + "\r\n"}, false)});
    rpc::client client(testing::test_host(), {server.address()}, file.tokens);
    raw_emails all;

    for (const auto* id : {"0", "1"})
        boost::asio::co_spawn(testing::test_host().loop(), read_in_time(client, id, all),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == 2; }));

    CHECK(all.at("1").value().size_bytes() == 7);
    CHECK(all.at("0").error().code == errc::unavailable);
}

TEST_CASE("a call that takes too long does not take the answers of the others along", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    async::reset_event released(testing::test_host().executor());
    bool has_ended = false;
    running.server.add(inbox_methods::get_raw_email, [&](inbox::v1::GetRawEmailRequest received) {
        return answer_slowly(std::move(received), released, has_ended);
    });
    rpc::client client(testing::test_host(), {running.server.local_address()}, file.tokens);
    raw_emails all;

    for (const auto* id : {"slow", "first", "second"})
        boost::asio::co_spawn(testing::test_host().loop(), read_in_time(client, id, all),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == 3; }));

    CHECK(all.at("first").has_value());
    CHECK(all.at("second").has_value());
    CHECK(all.at("slow").error().code == errc::deadline_exceeded);
    released.set();
    CHECK(testing::eventually([&] { return has_ended; }));
}

TEST_CASE("drain waits for a call that outlived its request", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    async::reset_event released(testing::test_host().executor());
    bool has_ended = false, is_drained = false;
    running.server.add(inbox_methods::get_raw_email, [&](inbox::v1::GetRawEmailRequest received) {
        return answer_slowly(std::move(received), released, has_ended);
    });
    std::optional<rpc::client> client(std::in_place, testing::test_host(),
                                      std::vector{running.server.local_address()}, file.tokens);
    raw_emails all;
    for (const auto* id : {"slow", "first"})
        boost::asio::co_spawn(testing::test_host().loop(), read_in_time(*client, id, all, 1s),
                              boost::asio::detached);
    REQUIRE(testing::eventually([&] { return all.size() == 2; }));
    client.reset(); // closes its connection

    boost::asio::co_spawn(testing::test_host().loop(), running.server.drain(30s),
                          [&](const std::exception_ptr&) { is_drained = true; });

    CHECK_FALSE(testing::eventually([&] { return is_drained; }, 500ms));
    CHECK_FALSE(has_ended);
    released.set();
    CHECK(testing::eventually([&] { return is_drained; }));
    CHECK(has_ended);
}

TEST_CASE("a replica that hangs does not get every batch", "[rpc]")
{
    testing::token_file file;
    testing::scripted_server silent(std::vector(40, testing::script({""})));
    testing::running_rpc_server running(file.tokens);
    rpc::client client(testing::test_host(), {silent.address(), running.server.local_address()},
                       file.tokens);
    responses all;

    for (std::size_t i = 0; i < 40; ++i) {
        const auto answered = all.size();
        boost::asio::co_spawn(testing::test_host().loop(),
                              take_into(client, static_cast<std::int64_t>(i), all, 1s),
                              boost::asio::detached);
        // Not longer for one that is at the silent replica.
        testing::eventually([&] { return all.size() > answered; }, 100ms);
    }
    REQUIRE(testing::eventually([&] { return all.size() == 40; }, 5s));

    CHECK(std::count_if(all.begin(), all.end(),
                        [](const auto& one) { return one.second.has_value(); }) >= 33);
    // Its requests end before the client does.
    testing::eventually([] { return false; }, 1s);
}

TEST_CASE("a request without calls or with too many of them is refused", "[rpc]")
{
    testing::token_file file;
    testing::running_rpc_server running(file.tokens);
    http::client connections(testing::test_host(), {});
    for (const int count : {0, rpc::max_calls + 1}) {
        rpc::v1::Calls calls;
        for (int i = 0; i < count; ++i)
            calls.add_calls();
        http::client_request request;
        request.method = "POST";
        request.url = "http://" + running.server.local_address().text() + "/" +
                      std::string(testing::take_quota.path);
        request.headers = {{"Content-Type", std::string(rpc::calls_type)},
                           {"Authorization", "Bearer " + testing::rpc_token}};
        request.body = calls.SerializeAsString();

        const auto refused = testing::await(connections.send(request));

        CHECK(refused.status == 400);
        CHECK_THAT(refused.body,
                   Catch::Contains("calls must be 1 to 100, not " + std::to_string(count)));
    }
}
