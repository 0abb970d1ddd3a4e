#include "gateway/pipeline/negotiation.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

const std::vector<std::string> offers{"application/json", "image/png", "application/octet-stream"};

std::string chosen(const char* accept)
{
    const auto choice = choose_media_type(std::string(accept), offers);
    return choice ? offers[*choice] : "none";
}

bool matches(const char* tags)
{
    http::request received;
    received.headers.emplace_back("If-None-Match", tags);
    return matches_etag(received, "\"a,b\"");
}

} // namespace

TEST_CASE("the first offer is chosen without an Accept header", "[gateway][negotiation]")
{
    CHECK(choose_media_type(std::nullopt, offers) == std::size_t{0});
    CHECK(chosen("") == "application/json");
    CHECK(chosen("*/*") == "application/json");
    CHECK(chosen("*") == "application/json");
    CHECK(chosen("application/*") == "application/json");
}

TEST_CASE("the highest quality wins, and the most specific range decides it",
          "[gateway][negotiation]")
{
    CHECK(chosen("image/png") == "image/png");
    CHECK(chosen("IMAGE/*, text/html") == "image/png");
    CHECK(chosen("application/json;q=0.2, image/png;q=0.3") == "image/png");
    CHECK(chosen("*/*, application/json;q=0") == "image/png");
    CHECK(chosen("*/*;q=0.1, application/octet-stream") == "application/octet-stream");
    CHECK(chosen("text/html, application/json; charset=utf-8; q=0.9") == "application/json");
    CHECK(chosen("application/*;q=0.9, application/json;q=0.1") == "application/octet-stream");
}

TEST_CASE("nothing fits where no range does", "[gateway][negotiation]")
{
    CHECK(chosen("text/html") == "none");
    CHECK(chosen("image/png;q=0") == "none");
    CHECK(chosen("image/png;q=2") == "none");
    CHECK(chosen("nonsense") == "none");
    CHECK(chosen("text/html;title=\"a, image/png\"") == "none");
}

TEST_CASE("several Accept headers are one list", "[gateway][negotiation]")
{
    http::request received;
    received.headers = {{"Accept", "text/html"}, {"X", "y"}, {"accept", "image/png"}};

    CHECK(joined_header(received, "Accept") == "text/html, image/png");
    CHECK_FALSE(joined_header(received, "Other"));
}

TEST_CASE("If-None-Match knows a tag among others, weak or not, or any", "[gateway][negotiation]")
{
    CHECK(matches("\"a,b\""));
    CHECK(matches("\"x\", W/\"a,b\""));
    CHECK(matches("*"));
    CHECK_FALSE(matches("\"a\""));
    CHECK_FALSE(matches("a,b"));
    CHECK_FALSE(matches(""));
    CHECK_FALSE(matches_etag(http::request(), "\"a\""));
}

TEST_CASE("a file name is quoted, and escaped where ASCII cannot say it", "[gateway][negotiation]")
{
    CHECK(attachment_disposition("list.csv") == "attachment; filename=\"list.csv\"");
    CHECK(attachment_disposition("") == "attachment; filename=\"attachment\"");
    CHECK(attachment_disposition("a\"b\\c.txt") ==
          "attachment; filename=\"a_b_c.txt\"; filename*=UTF-8''a%22b_c.txt");
    CHECK(attachment_disposition("Größe 5%.pdf") ==
          "attachment; filename=\"Gr__e 5_.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%205%25.pdf");
    CHECK(attachment_disposition("a\r\nb").find('\r') == std::string::npos);
}

TEST_CASE("a file name leads to no other folder, is not hidden and not endless",
          "[gateway][negotiation]")
{
    CHECK(attachment_disposition("../../etc/passwd") ==
          "attachment; filename=\"_._.._etc_passwd\"");
    CHECK(attachment_disposition("..\\a.txt") == "attachment; filename=\"_._a.txt\"");
    CHECK(attachment_disposition(".bashrc") == "attachment; filename=\"_bashrc\"");
    CHECK(attachment_disposition("a\r\nSet-Cookie: b") ==
          "attachment; filename=\"a__Set-Cookie: b\"");
    CHECK(attachment_disposition(std::string("a\0b\x7f", 4)).find('\0') == std::string::npos);
    CHECK(attachment_disposition(std::string(300, 'a')) ==
          "attachment; filename=\"" + std::string(255, 'a') + "\"");
    CHECK(attachment_disposition("\xff.txt") ==
          "attachment; filename=\"_.txt\"; filename*=UTF-8''%EF%BF%BD.txt");
}
