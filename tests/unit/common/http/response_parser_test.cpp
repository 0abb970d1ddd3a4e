#include "common/http/response_parser.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using http::progress;

namespace {

struct reading
{
    http::client_response response;
    progress state = progress::need_more;
    bool is_kept = false;
};

reading read(std::string_view bytes, std::size_t cut, bool is_closed_after = false,
             bool is_head_response = false)
{
    reading found;
    http::response_parser parser(found.response, is_head_response, 200, 20);
    std::string pending;
    for (const auto& piece : {bytes.substr(0, cut), bytes.substr(std::min(cut, bytes.size()))}) {
        pending.append(piece);
        if (!pending.empty() && parser.state() == progress::need_more)
            pending.erase(0, parser.feed(pending));
    }
    if (is_closed_after && parser.state() == progress::need_more)
        parser.finish();
    found.state = parser.state();
    found.is_kept = parser.state() == progress::complete && parser.leaves_connection_open();
    return found;
}

} // namespace

TEST_CASE("a response reads the same however it is cut", "[http]")
{
    const std::string bytes = "HTTP/1.1 201 Created\r\nLocation: /x\r\nTransfer-Encoding: "
                              "chunked\r\n\r\n5\r\nhello\r\n3\r\n!!!\r\n0\r\n\r\n";
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        const auto found = read(bytes, cut);
        REQUIRE(found.state == progress::complete);
        CHECK(found.response.status == 201);
        CHECK(found.response.header("location") == "/x");
        CHECK(found.response.body == "hello!!!");
        CHECK(found.is_kept);
    }
}

TEST_CASE("a chunked response may come in pieces of any size", "[http]")
{
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string_view body :
         {"0\r\n\r\n", "0\r\nX: y\r\n\r\n", "000\r\n\r\n", "1\r\nx\r\n0\r\n\r\n"}) {
        CAPTURE(body);
        http::client_response response;
        http::response_parser parser(response, false, 200, 20);
        std::string pending;
        for (const char c : head + std::string(body)) {
            REQUIRE(parser.state() == progress::need_more);
            pending.push_back(c);
            pending.erase(0, parser.feed(pending));
        }
        CHECK(parser.state() == progress::complete);
        CHECK(pending.empty());
        CHECK(response.body == (body.front() == '1' ? "x" : ""));
    }
}

TEST_CASE("a response may end with its connection, but not in the middle", "[http]")
{
    CHECK(read("HTTP/1.1 200 OK\r\n\r\nbody", 5, true).state == progress::complete);
    CHECK_FALSE(read("HTTP/1.1 200 OK\r\n\r\nbody", 5, true).is_kept);
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", 5, true).state ==
          progress::malformed);
    CHECK(
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n", 5, true).state ==
        progress::malformed);
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Le", 5, true).state == progress::malformed);
    CHECK(read("", 0, true).state == progress::malformed);
}

TEST_CASE("responses without a body end with their header", "[http]")
{
    CHECK(read("HTTP/1.1 204 No Content\r\n\r\n", 3).state == progress::complete);
    CHECK(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 3).state ==
          progress::complete);
    CHECK(read("HTTP/1.1 100 Continue\r\n\r\n", 3).state == progress::complete);
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 3, false, true).state ==
          progress::complete);
}

TEST_CASE("a response is bounded and keeps what fits", "[http]")
{
    const auto large =
        read("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n" + std::string(30, 'x'), 50);
    CHECK(large.state == progress::body_too_large);
    CHECK(large.response.body == std::string(20, 'x'));

    const auto header = read("HTTP/1.1 200 OK\r\nX: " + std::string(200, 'x'), 100);
    CHECK(header.state == progress::header_too_large);
    CHECK(header.response.status == 200);
}

TEST_CASE("a status line needs neither a phrase nor the blank before it", "[http]")
{
    for (const std::string_view line :
         {"HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1  200  OK", "HTTP/1.1\t200\tOK",
          "HTTP/1.1 200 \xC3\x9C\x01", "HTTP/1.0 200", "HTTP/1.0 200 OK", "HTTP/1.2 200 OK",
          "\r\nHTTP/1.1 200 OK", "\n\nHTTP/1.1 200"}) {
        CAPTURE(line);
        const auto bytes = std::string(line) + "\r\nContent-Length: 2\r\n\r\nok";
        for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
            const auto found = read(bytes, cut);
            REQUIRE(found.state == progress::complete);
            CHECK(found.response.status == 200);
            CHECK(found.response.body == "ok");
        }
    }
    CHECK(read("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 9).is_kept);
    CHECK_FALSE(read("HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n", 9).is_kept);
    CHECK(read("HTTP/1.1 204\r\n\r\n", 9).state == progress::complete);
    CHECK(read("HTTP/1.1 100\r\n\r\n", 9).state == progress::complete);
}

TEST_CASE("a status line that could mean something else is malformed", "[http]")
{
    for (const std::string_view line :
         {"HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 200OK",
          "HTTP/1.1200 OK", "HTTP/1.1 20x", "HTTP/1.1 -20", "HTTP/1.1 099 Low", "HTTP/1.10 200 OK",
          "HTTP/2.0 200 OK", "HTTP/0.9 200 OK", "ICY 200 OK", " HTTP/1.1 200 OK",
          "HTTP/1.1 200 O\rK", "HTTP/1.1 200\r"}) {
        CAPTURE(line);
        CHECK(read(std::string(line) + "\r\n\r\n", 3).state == progress::malformed);
    }
    CHECK(read("HTTP/1.1 200", 3, true).state == progress::malformed);
    CHECK(read("\r\n", 1, true).state == progress::malformed);
}

TEST_CASE("lines of a head may end with a line feed alone", "[http]")
{
    for (const std::string_view bytes :
         {"HTTP/1.1 200 OK\nX: y\nContent-Length: 2\n\nok",
          "HTTP/1.1 200\nX:y\r\nContent-Length: 2\n\r\nok",
          "HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\r\n\nok",
          "HTTP/1.1 200 OK\nX: y\nTransfer-Encoding: chunked\n\n2\r\nok\r\n0\r\n\r\n"})
        for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
            CAPTURE(bytes, cut);
            const auto found = read(bytes, cut);
            REQUIRE(found.state == progress::complete);
            CHECK(found.response.header("X") == "y");
            CHECK(found.response.body == "ok");
            CHECK_FALSE(found.is_kept);
        }
    CHECK(read("HTTP/1.1 200 OK\n\nbody", 5, true).response.body == "body");
}

TEST_CASE("blanks around header values, empty and folded values are read", "[http]")
{
    const auto found = read("HTTP/1.1 200 OK\r\nEmpty:\r\nBlank: \t\r\nSpaced \t:  a b \r\n"
                            "Folded: a\r\n  b\r\n\t\r\nConnection: keep-alive; timeout=5\r\n"
                            "Content-Length : 2\r\n\r\nok",
                            30);
    REQUIRE(found.state == progress::complete);
    CHECK(found.response.header("Empty") == "");
    CHECK(found.response.header("Blank") == "");
    CHECK(found.response.header("Spaced") == "a b");
    CHECK(found.response.header("Folded") == "a b");
    CHECK(found.response.header("Connection") == "keep-alive; timeout=5");
    CHECK(found.response.body == "ok");
    CHECK_FALSE(found.is_kept);

    const auto regular = read("HTTP/1.1 200 OK\r\nConnection:\r\nContent-Length:2 \r\n\r\nok", 30);
    REQUIRE(regular.state == progress::complete);
    CHECK(regular.is_kept);
}

TEST_CASE("a response that could end in two places is malformed", "[http]")
{
    const auto state_of = [](std::string_view fields, std::string_view body = "ok") {
        return read("HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n" + std::string(body), 20)
            .state;
    };
    for (const std::string_view fields :
         {"Content-Length: 2\r\nContent-Length: 1\r\n",
          "Content-Length: 2, 1\r\n",
          "Content-Length: 2\r\nContent-Length : 1\r\n",
          "Content-Length: +2\r\n",
          "Content-Length: -2\r\n",
          "Content-Length: 2\r\n 1\r\n",
          "Content-Length:\r\n",
          "Content-Length: 0x2\r\n",
          "Content-Length: 18446744073709551618\r\n",
          "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
          "Transfer-Encoding : chunked\nContent-Length: 2\r\n",
          "Transfer-Encoding: gzip\r\nContent-Length: 2\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
          " X: y\r\n",
          "X y\r\nContent-Length: 2\r\n",
          ": y\r\n",
          "X: y\rContent-Length: 1\r\n",
          "X: y\r\r\n",
          "X\r\n: y\r\n",
          "X z: y\r\n"}) {
        CAPTURE(fields);
        CHECK(state_of(fields) == progress::malformed);
    }
    CHECK(state_of("Content-Length: 2\r\nContent-Length: 2\r\n") == progress::complete);

    const std::string_view chunked = "Transfer-Encoding: chunked\r\n";
    for (const std::string_view body :
         {"2\nok\n0\n\n", "2\r\nok\n0\r\n\r\n", "\r\n2\r\nok\r\n0\r\n\r\n", "-2\r\nok\r\n",
          "10000000000000002\r\nok\r\n0\r\n\r\n"}) {
        CAPTURE(body);
        CHECK(state_of(chunked, body) != progress::complete);
    }
    CHECK(state_of(chunked, "2\r\nok\r\n0\r\n\r\n") == progress::complete);
    CHECK_FALSE(
        read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
             "0\r\n\r\n",
             20)
            .is_kept);
}

TEST_CASE("a head is bounded however its lines end", "[http]")
{
    for (const std::string_view filler : {"\n", "\r\n", "x", "X: y\n"}) {
        CAPTURE(filler);
        std::string bytes(filler == "x" || filler == "X: y\n" ? "HTTP/1.1 200 OK\n" : "");
        while (bytes.size() < 300)
            bytes += filler;
        for (const std::size_t cut : {10U, 199U, 200U, 201U, 300U})
            CHECK(read(bytes, cut).state == progress::header_too_large);
    }
}
