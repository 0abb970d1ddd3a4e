#include "unit/common/http/raw_client.hpp"
#include "unit/common/http/running_server.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>

#include <deque>

using namespace tempinbox;
using Catch::Contains;
using testing::raw_client;
using testing::running_server;

namespace {

// A body whose pieces a test releases one by one.
class handed_out
{
public:
    handed_out() : news_(testing::test_host().loop()) {}

    http::handler handler()
    {
        return [this](http::request&) { return answer(); };
    }

    void push(std::string piece)
    {
        pieces_.push_back(std::move(piece));
        news_.cancel();
    }
    bool is_stopped() const { return is_stopped_; }

private:
    awaitable<http::response> answer()
    {
        http::response answer(200, "text/event-stream", "");
        auto source = std::make_shared<http::body_source>();
        source->next = [this] { return next(); };
        source->stop = [this] {
            is_stopped_ = true;
            news_.cancel();
        };
        answer.source = std::move(source);
        co_return answer;
    }

    awaitable<std::string> next()
    {
        while (pieces_.empty() && !is_stopped_) {
            news_.expires_at(std::chrono::steady_clock::time_point::max());
            boost::system::error_code woken;
            co_await news_.async_wait(
                boost::asio::redirect_error(boost::asio::use_awaitable, woken));
        }
        std::string piece;
        if (!pieces_.empty()) {
            piece = std::move(pieces_.front());
            pieces_.pop_front();
        }
        co_return piece;
    }

    boost::asio::steady_timer news_;
    std::deque<std::string> pieces_;
    bool is_stopped_ = false;
};

} // namespace

TEST_CASE("a body in pieces goes out chunked, each piece when it comes, and the connection stays",
          "[http][server]")
{
    handed_out body;
    running_server server(body.handler());
    raw_client client(server.address());
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

    const auto head = client.read_until("\r\n\r\n");
    CHECK_THAT(head, Contains("Transfer-Encoding: chunked\r\n") && !Contains("Content-Length"));
    body.push("hello, ");
    CHECK(client.read_until("hello, \r\n") == "7\r\nhello, \r\n");
    body.push(std::string(300, 'x'));
    CHECK(client.read_until("x\r\n").starts_with("12c\r\nxxx"));
    body.push("");
    CHECK(client.read_until("0\r\n\r\n") == "0\r\n\r\n");

    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK_THAT(client.read_until("\r\n\r\n"), Contains("200 OK"));
    body.push("");
    client.read_until("0\r\n\r\n");
}

TEST_CASE("to HTTP/1.0 a body in pieces lasts until the connection closes", "[http][server]")
{
    handed_out body;
    running_server server(body.handler());
    raw_client client(server.address());
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    body.push("all there is");
    body.push("");

    const auto answer = client.read_to_end();

    CHECK_THAT(answer, Contains("Connection: close\r\n") && !Contains("chunked"));
    CHECK(answer.ends_with("\r\n\r\nall there is"));
}

TEST_CASE("HEAD of what comes in pieces is answered at once", "[http][server]")
{
    handed_out body;
    running_server server(body.handler());
    raw_client client(server.address());
    client.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

    CHECK_THAT(client.read_to_end(),
               Contains("Transfer-Encoding: chunked") && Catch::EndsWith("\r\n\r\n"));
}

TEST_CASE("a body in pieces is stopped when the client hangs up", "[http][server]")
{
    handed_out body;
    running_server server(body.handler());
    raw_client client(server.address());
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.read_until("\r\n\r\n");

    client.close();

    CHECK(testing::eventually([&] { return body.is_stopped(); }));
    CHECK(testing::eventually([&] { return server.server.connections() == 0; }));
}

TEST_CASE("a body in pieces is stopped with the server", "[http][server]")
{
    handed_out body;
    {
        running_server server(body.handler());
        raw_client client(server.address());
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client.read_until("\r\n\r\n");
    }
    CHECK(body.is_stopped());
}
