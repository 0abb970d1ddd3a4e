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
