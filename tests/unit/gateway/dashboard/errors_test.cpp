#include "gateway/dashboard/errors.hpp"

#include "common/json/value.hpp"
#include "unit/common/every_errc.hpp"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

using namespace tempinbox;
using namespace tempinbox::gateway;

namespace {

std::string code_of(const http::response& response)
{
    return json::value::parse(response.body).value()["code"].text();
}

std::string completed(http::response response)
{
    add_error_code(response);
    return code_of(response);
}

} // namespace

TEST_CASE("an error of the dashboard's API has its word after the three fields of every error",
          "[gateway][dashboard]")
{
    const auto response = error_response(dashboard_error::csrf_token_mismatch);

    CHECK(response.status == 403);
    CHECK(response.body ==
          R"({"statusCode":403,"error":"Forbidden","message":"Header X-CSRF-Token is not the )"
          R"(token of this session's answer","code":"csrf_token_mismatch"})");
}

TEST_CASE("a sentence that says more takes the place of the table's", "[gateway][dashboard]")
{
    const auto response = error_response(dashboard_error::too_many_attempts, "Try in 5 s");

    CHECK(response.status == 429);
    CHECK(code_of(response) == "too_many_attempts");
    CHECK(response.body.find("Try in 5 s") != std::string::npos);
}

TEST_CASE("the words are snake_case, and no two reasons share one", "[gateway][dashboard]")
{
    const std::regex snake_case("[a-z]+(_[a-z]+)*");
    std::set<std::string_view> words;
    const int count = static_cast<int>(dashboard_error::too_many_attempts) + 1;
    for (int i = 0; i < count; ++i) {
        const auto word = to_string(static_cast<dashboard_error>(i));
        CHECK(std::regex_match(word.begin(), word.end(), snake_case));
        CHECK(words.insert(word).second);
    }
}

TEST_CASE("an error of an operation shared with /v1 has the word that it has there",
          "[gateway][dashboard]")
{
    CHECK(completed(http::error_response(405, "POST is not allowed here")) == "method_not_allowed");
    CHECK(completed(http::error_response(error_reason::inbox_limit, "All used")) == "inbox_limit");
    const failure taken{errc::conflict, "sentence", error_reason::address_taken};
    CHECK(completed(http::error_response(taken)) == "address_taken");
    for (const auto code : testing::every_errc()) {
        const failure refused{code, "sentence"};
        CHECK(completed(http::error_response(refused)) == to_string(http::reason_of(refused)));
    }
}

TEST_CASE("the header of an error has the word of its body", "[gateway][dashboard]")
{
    const auto response = error_response(dashboard_error::no_session);

    CHECK(http::find_header(response.headers, "X-Error-Code") == "no_session");
}

TEST_CASE("a word that is there stays, and what is no error gets none", "[gateway][dashboard]")
{
    CHECK(completed(error_response(dashboard_error::wrong_code)) == "wrong_code");

    auto fine = http::ok_json(R"({"keys":[]})");
    add_error_code(fine);
    CHECK(fine.body == R"({"keys":[]})");
    http::response page(502, "text/html", "<html></html>");
    add_error_code(page);
    CHECK(page.body == "<html></html>");
}
