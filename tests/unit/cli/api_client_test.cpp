#include "cli/api_client.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::cli;

namespace {

settings service()
{
    settings chosen;
    chosen.base_url = "https://mail.example.com/prefix";
    chosen.key_origin = "TEMPINBOX_API_KEY";
    return chosen;
}

failure refusal(unsigned status, const std::string& message, http::header_list headers = {})
{
    http::client_response response;
    response.status = status;
    response.headers = std::move(headers);
    response.body = R"({"message":")" + message + R"("})";
    return judge(response, service()).value();
}

failure broken(http::exchange_error error)
{
    http::client_response response;
    response.error = error;
    response.error_text = "why";
    return judge(response, service()).value();
}

} // namespace

TEST_CASE("what goes into a query is encoded", "[cli]")
{
    CHECK(encode_component("a b&c=é/~") == "a%20b%26c%3d%c3%a9%2f~");
    query asked;
    asked.add("from", std::optional<std::string>("a@b"))
        .add("to", std::optional<std::string>())
        .add("after", std::optional<std::int64_t>(3));
    CHECK(asked.text() == "?from=a%40b&after=3");
}

TEST_CASE("each refusal says what to do", "[cli]")
{
    CHECK(refusal(401, "API key is not valid").message ==
          "the service refuses the API key of TEMPINBOX_API_KEY: API key is not valid. Is it "
          "wrong, revoked or expired? You make one at "
          "https://mail.example.com/prefix/dashboard/settings/keys");
    CHECK(refusal(403, "No API access on this plan").message ==
          "No API access on this plan. What the plan allows: "
          "https://mail.example.com/prefix/dashboard/account; what a key may do: "
          "https://mail.example.com/prefix/dashboard/settings/keys");
    CHECK(
        refusal(
            429, "The daily limit is used up",
            {{"Retry-After", "7200"}, {"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Limit", "10"}})
            .message == "The daily limit is used up; try again in 2h. What the plan allows: "
                        "https://mail.example.com/prefix/dashboard/account");
    CHECK(refusal(503, "Busy", {{"Retry-After", "1"}, {"X-Request-Id", "r1"}}).message ==
          "the service failed: Busy; try again in 1s (request r1)");
    CHECK(refusal(308, "", {{"Location", "https://new.example.com/"}}).message ==
          "https://mail.example.com/prefix leads to \"https://new.example.com/\": give that "
          "address as TEMPINBOX_BASE_URL or --base-url");
}

TEST_CASE("a used-up day is told from a limit of the second", "[cli]")
{
    const auto is_over = [](unsigned status, const std::string& message, std::string remaining) {
        http::client_response response;
        response.status = status;
        response.headers = {{"X-RateLimit-Remaining", std::move(remaining)}};
        response.body = R"({"message":")" + message + R"("})";
        return is_day_used_up(response);
    };

    CHECK(is_over(429, "The daily limit of 2 requests is used up", "0"));
    CHECK_FALSE(is_over(429, "More than 5 requests in one second", "0"));
    CHECK_FALSE(is_over(429, "The daily limit of 2 requests is used up", "1"));
    CHECK_FALSE(is_over(403, "The daily limit of 2 requests is used up", "0"));
}

TEST_CASE("each refusal has its exit code", "[cli]")
{
    const auto code = [](unsigned status) { return exit_code_of(refusal(status, "x").code); };

    CHECK(code(400) == exit_code::bad_usage);
    CHECK(code(401) == exit_code::refused);
    CHECK(code(403) == exit_code::refused);
    CHECK(code(404) == exit_code::not_found);
    CHECK(code(409) == exit_code::conflict);
    CHECK(code(429) == exit_code::over_limit);
    CHECK(code(500) == exit_code::unreachable);
    CHECK(code(503) == exit_code::unreachable);
    CHECK(exit_code_of(errc::deadline_exceeded) == exit_code::not_in_time);
    CHECK(exit_code_of(errc::internal) == exit_code::local_failure);
}

TEST_CASE("a service that cannot be reached says what to check", "[cli]")
{
    CHECK_THAT(broken(http::exchange_error::connect).message,
               Catch::StartsWith("cannot reach https://mail.example.com/prefix: why. Does the "
                                 "service run there"));
    CHECK_THAT(broken(http::exchange_error::resolve).message, Catch::Contains("host name"));
    CHECK_THAT(broken(http::exchange_error::tls).message, Catch::Contains("--ca-file"));
    CHECK_THAT(broken(http::exchange_error::closed).message,
               Catch::Contains("was cut") && Catch::Contains("--hold"));
}

TEST_CASE("an answer that is not the service's is no JSON object", "[cli]")
{
    http::client_response page;
    page.status = 200;
    page.body = "<html>";

    const auto read = read_object(page, service());

    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().message, Catch::Contains("TEMPINBOX_BASE_URL"));
}
