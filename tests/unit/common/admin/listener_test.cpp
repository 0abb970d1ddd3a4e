#include "common/admin/listener.hpp"
#include "common/http/client.hpp"
#include "common/json/value.hpp"
#include "common/log/log.hpp"
#include "common/metrics/files_current.hpp"
#include "common/testing/await.hpp"
#include "unit/common/scratch_folder.hpp"
#include "unit/common/trace/traced_host.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

// The listener runs on the test host, since a host of its own would need its own loop; health and
// metrics are the test host's.
struct running_listener
{
    explicit running_listener(const std::string& token_file = "")
        : listener(testing::test_host(), token_file)
    {
        listener.start();
    }
    ~running_listener()
    {
        listener.stop();
        testing::eventually([] { return false; }, std::chrono::milliseconds(20));
    }

    http::client_response send(const std::string& method, const std::string& path,
                               const std::string& authorization = "")
    {
        http::client_request outgoing;
        outgoing.method = method;
        outgoing.url = "http://" + listener.local_address().text() + path;
        if (!authorization.empty())
            outgoing.headers.emplace_back("Authorization", authorization);
        return testing::await(client.send(std::move(outgoing)));
    }

    admin::listener listener;
    http::client client{testing::test_host(), {}};
};

using steady = std::chrono::steady_clock;

// Goes round the loop until it is told to end; the longest time between two turns.
awaitable<void> watch_turns(boost::asio::any_io_executor executor, const bool& is_over,
                            steady::duration& longest)
{
    auto before = steady::now();
    while (!is_over) {
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
        const auto now = steady::now();
        longest = std::max(longest, now - before);
        before = now;
    }
}

awaitable<http::client_response> scrape(http::client& client, std::string url, bool& is_over)
{
    http::client_request outgoing;
    outgoing.url = std::move(url);
    outgoing.deadline = std::chrono::seconds(20);
    auto response = co_await client.send(std::move(outgoing));
    is_over = true;
    co_return response;
}

} // namespace

TEST_CASE("the operator's port says that the process lives and whether it is ready", "[admin]")
{
    running_listener running;
    auto& health = testing::test_host().health();

    CHECK(running.send("GET", "/livez").status == 200);
    health.expect("admin-test");
    const auto waiting = running.send("GET", "/readyz");
    health.met("admin-test");
    const auto ready = running.send("GET", "/readyz");

    CHECK(waiting.status == 503);
    CHECK(json::value::parse(waiting.body).value()["ready"].boolean() == false);
    CHECK(ready.status == 200);
    CHECK(json::value::parse(ready.body).value()["ready"].boolean());
}

TEST_CASE("metrics are Prometheus text", "[admin]")
{
    running_listener running;
    running.send("GET", "/livez");

    const auto response = running.send("GET", "/metrics");

    CHECK(response.status == 200);
    CHECK(response.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
    CHECK_THAT(response.body, Contains("# TYPE http_server_request_duration_seconds histogram") &&
                                  Contains("server=\"admin\""));
}

TEST_CASE("the loop turns while the text of many metrics is made", "[admin]")
{
    testing::traced_host host(0);
    for (int series = 0; series < 4'000; ++series)
        host.metrics()
            .histogram("tempinbox_test_seconds", "A histogram of many series",
                       metrics::wait_buckets(), {{"number", std::to_string(series)}})
            .Observe(1);
    // The machine may do something else at any moment, but not in each of five attempts.
    constexpr int attempts = 5;
    std::size_t text_bytes = 0;
    auto rendering = steady::duration::max();
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const auto began = steady::now();
        text_bytes = host.metrics().text().size();
        rendering = std::min(rendering, steady::now() - began);
    }
    admin::listener listener(host, "");
    listener.start();
    http::client_settings settings;
    settings.body_limit = 2 * text_bytes;
    http::client client(host, settings);

    auto shortest = steady::duration::max();
    for (int attempt = 0; attempt < attempts; ++attempt) {
        bool is_over = false;
        steady::duration longest{};
        boost::asio::co_spawn(host.loop(), watch_turns(host.executor(), is_over, longest),
                              boost::asio::detached);
        const auto response = host.await(
            scrape(client, "http://" + listener.local_address().text() + "/metrics", is_over));
        host.eventually([&, turns = 0]() mutable { return ++turns > 100; });
        shortest = std::min(shortest, longest);

        REQUIRE(response.status == 200);
        REQUIRE(response.body.size() > text_bytes / 2);
    }
    listener.stop();

    // On the loop it would be all of it, and more.
    CHECK(shortest < rendering / 2);
}

TEST_CASE("the log level changes while running", "[admin]")
{
    running_listener running;

    CHECK(running.send("POST", "/log-level?level=error").body == R"({"level":"error"})");
    const auto wrong = running.send("POST", "/log-level?level=loud");
    CHECK(wrong.status == 400);
    CHECK_THAT(wrong.body, Contains("level must be one of debug, info, warning, error"));
    CHECK(running.send("GET", "/log-level?level=debug").status == 405);
    CHECK(running.send("GET", "/nothing").status == 404);
}

TEST_CASE("with a token only who knows it changes the log level", "[admin]")
{
    testing::scratch_folder folder;
    running_listener running(folder.write("token", "a-token-of-the-operator\n"));

    CHECK(running.send("POST", "/log-level?level=error").status == 401);
    CHECK(
        running.send("POST", "/log-level?level=error", "Bearer another-token-altogether").status ==
        401);
    CHECK(running.send("POST", "/log-level?level=error", "Basic a-token-of-the-operator").status ==
          401);
    CHECK(running.send("POST", "/log-level?level=error", "Bearer a-token-of-the-operator").status ==
          200);
    CHECK(running.send("GET", "/livez").status == 200);
}

TEST_CASE("a changed token of the operator counts at once, and a bad file is shown",
          "[admin][secrets]")
{
    const testing::scratch_folder folder;
    auto& files = testing::test_host().files();
    running_listener running(folder.write("token", "a-token-of-the-operator\n"));
    const auto status_with = [&running](const std::string& token) {
        return running.send("POST", "/log-level?level=error", "Bearer " + token).status;
    };
    const auto current = [] {
        return metrics::files_current(testing::test_host().metrics(), "admin-token-file").Value();
    };
    CHECK(current() == 1);

    folder.write("token", "tooshort\n");
    files.check();
    CHECK(status_with("a-token-of-the-operator") == 200);
    CHECK(current() == 0);

    folder.write("token", "the-next-token-of-the-operator\n");
    files.check();
    CHECK(status_with("the-next-token-of-the-operator") == 200);
    CHECK(status_with("a-token-of-the-operator") == 401);
    CHECK(current() == 1);
}

TEST_CASE("without a token only callers on loopback change something", "[admin]")
{
    const auto status_of = [](const char* peer) {
        http::request received;
        received.peer = boost::asio::ip::make_address(peer);
        const auto refused = admin::refuse_change(received, nullptr);
        return refused ? refused->status : 200U;
    };

    CHECK(status_of("127.0.0.1") == 200);
    CHECK(status_of("::1") == 200);
    CHECK(status_of("::ffff:127.0.0.1") == 200);
    CHECK(status_of("10.1.2.3") == 403);
    CHECK(status_of("2001:db8::1") == 403);
}
