#include "common/core/error_reason.hpp"

#include "common/http/message.hpp"
#include "unit/common/every_errc.hpp"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

using namespace tempinbox;

TEST_CASE("each reason has a word of its own, a status of errors, a cause and a remedy", "[core]")
{
    const std::regex snake_case("[a-z]+(_[a-z]+)*");
    std::set<std::string_view> words;
    for (const auto& known : error_reasons()) {
        CAPTURE(known.word);
        CHECK(std::regex_match(known.word.begin(), known.word.end(), snake_case));
        CHECK(words.insert(known.word).second);
        CHECK(http::status_name(known.status) != "Unknown");
        CHECK(known.status >= 400);
        CHECK(known.cause.ends_with('.'));
        CHECK(known.remedy.ends_with('.'));
        CHECK(error_reason_of(known.word) == known.reason);
        CHECK(to_string(known.reason) == known.word);
        CHECK(status_of(known.reason) == known.status);
    }
}

TEST_CASE("a word of another release is none, and none has no word", "[core]")
{
    CHECK(error_reason_of("of_a_later_release") == error_reason::none);
    CHECK(error_reason_of("") == error_reason::none);
    CHECK(to_string(error_reason::none).empty());
}

TEST_CASE("the reason of a status has this status", "[core]")
{
    for (const auto& known : error_reasons()) {
        CAPTURE(known.status);
        CHECK(status_of(error_reason_of_status(known.status)) == known.status);
    }
    CHECK(error_reason_of_status(418) == error_reason::invalid_request);
    CHECK(error_reason_of_status(599) == error_reason::internal);
}

TEST_CASE("every errc has a reason of its status", "[core]")
{
    for (const auto code : testing::every_errc()) {
        CAPTURE(to_string(code));
        const failure refused{code, "sentence"};
        CHECK(status_of(http::reason_of(refused)) == http::status_of(code));
    }
}
