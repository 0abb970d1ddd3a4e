#include "common/http/request_parser.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using http::progress;

namespace {

// The result of parsing bytes that arrive in pieces of the given lengths; the last piece is the
// rest.
struct reading
{
    http::request request;
    progress state = progress::need_more;
    bool is_http_11 = false;
    bool is_kept = false;
    std::size_t left = 0;
};

reading read(std::string_view bytes, std::vector<std::size_t> pieces,
             std::uint32_t header_limit = 1'000, std::uint64_t body_limit = 100)
{
    reading found;
    http::request_parser parser(found.request, header_limit, body_limit);
    std::string pending;
    pieces.push_back(bytes.size());
    for (const auto piece : pieces) {
        const auto taken = bytes.substr(0, piece);
        bytes.remove_prefix(taken.size());
        pending.append(taken);
        for (bool goes_on = true; goes_on && !pending.empty();) {
            const auto used = parser.feed(pending);
            pending.erase(0, used);
            goes_on = parser.state() == progress::header;
        }
        if (parser.state() != progress::need_more && parser.state() != progress::header)
            break;
    }
    found.state = parser.state();
    found.is_http_11 = parser.is_http_11();
    found.is_kept = parser.wants_keep_alive();
    found.left = pending.size() + bytes.size();
    return found;
}

const std::string chunked =
    "POST /a/b?x=1 HTTP/1.1\r\nHost: h\r\nX-Long: some value\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;name=\"v\"\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n";

} // namespace

TEST_CASE("a request reads the same however it is cut", "[http]")
{
    for (std::size_t cut = 0; cut <= chunked.size(); ++cut) {
        CAPTURE(cut);
        const auto found = read(chunked + "GET", {cut, 1, 1, 2});
        REQUIRE(found.state == progress::complete);
        CHECK(found.request.method == "POST");
        CHECK(found.request.target == "/a/b?x=1");
        CHECK(found.request.path == "/a/b");
        CHECK(found.request.query_param("x") == "1");
        CHECK(found.request.header("x-long") == "some value");
        CHECK_FALSE(found.request.header("trailer"));
        CHECK(found.request.body == "hello world");
        CHECK(found.left == 3);
    }
}

TEST_CASE("a chunked request may come in pieces of any size", "[http]")
{
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string_view body :
         {"0\r\n\r\n", "0\r\nX: y\r\n\r\n", "000\r\n\r\n", "1\r\nx\r\n0\r\n\r\n"}) {
        CAPTURE(body);
        const auto bytes = head + std::string(body);
        const auto found = read(bytes, std::vector<std::size_t>(bytes.size(), 1));
        CHECK(found.state == progress::complete);
        CHECK(found.left == 0);
        CHECK(found.request.body == (body.front() == '1' ? "x" : ""));
    }
}

TEST_CASE("every prefix of a request wants more", "[http]")
{
    for (std::size_t length = 0; length < chunked.size(); ++length) {
        CAPTURE(length);
        const auto state = read(std::string_view(chunked).substr(0, length), {}).state;
        CHECK((state == progress::need_more || state == progress::header));
    }
}

TEST_CASE("whether a connection is kept follows version and header", "[http]")
{
    CHECK(read("GET / HTTP/1.1\r\nHost: h\r\n\r\n", {}).is_kept);
    CHECK_FALSE(
        read("GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Close\r\n\r\n", {}).is_kept);
    CHECK_FALSE(read("GET / HTTP/1.0\r\n\r\n", {}).is_kept);
    CHECK(read("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", {}).is_kept);
    CHECK_FALSE(read("GET / HTTP/1.0\r\n\r\n", {}).is_http_11);
}

TEST_CASE("a body is bounded however it is framed and cut", "[http]")
{
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
    const std::string body(101, 'b');
    for (const std::size_t cut : {0U, 60U, 80U, 120U, 180U}) {
        CAPTURE(cut);
        CHECK(read(head + "Content-Length: 101\r\n\r\n" + body, {cut}).state ==
              progress::body_too_large);
        CHECK(read(head + "Content-Length: 100\r\n\r\n" + body, {cut}).state == progress::complete);
        CHECK(
            read(head + "Transfer-Encoding: chunked\r\n\r\n65\r\n" + body + "\r\n0\r\n\r\n", {cut})
                .state == progress::body_too_large);
        CHECK(read(head + "Transfer-Encoding: chunked\r\n\r\n3c\r\n" + body.substr(0, 60) +
                       "\r\n29\r\n" + body.substr(60) + "\r\n0\r\n\r\n",
                   {cut})
                  .state == progress::body_too_large);
    }
    CHECK(read(head + "Content-Length: 18446744073709551615\r\n\r\n", {}).state ==
          progress::body_too_large);
    CHECK(read(head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + body, {}).state ==
          progress::body_too_large);
    CHECK(read(head + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n" + body, {}).state ==
          progress::malformed);
}

TEST_CASE("a header is bounded however it is cut", "[http]")
{
    std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
    const std::vector<std::size_t> after_each_field(200, 10);
    while (head.size() < 1'100)
        head += "A-F: val\r\n";

    CHECK(read(head, {}).state == progress::header_too_large);
    CHECK(read(head, {25, 500}).state == progress::header_too_large);
    auto pieces = after_each_field;
    pieces.insert(pieces.begin(), 25);
    CHECK(read(head, pieces).state == progress::header_too_large);
    CHECK(read(head + "\r\n", {}, 2'000).state == progress::complete);
}

TEST_CASE("folded header lines become spaces", "[http]")
{
    CHECK(read("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\t b\r\n\r\n", {}).request.header("X") ==
          "a b");
}

TEST_CASE("a target that cannot be decoded is for the handler to answer", "[http]")
{
    for (const std::string target : {"/%zz", "/%00", "/%ff", "/%"}) {
        CAPTURE(target);
        const auto found = read("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n", {});
        CHECK(found.state == progress::complete);
        CHECK(found.request.path == target);
        CHECK(found.request.target_error.find("The path is not") == 0);
    }
    const auto query = read("GET /a?b=%f HTTP/1.1\r\nHost: h\r\n\r\n", {});
    CHECK(query.request.path == "/a");
    CHECK(query.request.target_error ==
          "The query is not well-formed percent-encoded UTF-8: \"b=%f\"");
    CHECK(read("GET /a?b=%20 HTTP/1.1\r\nHost: h\r\n\r\n", {}).request.target_error.empty());
}
