#include "gateway/pipeline/key_headers.hpp"

#include "accounts/api_key.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"

#include <catch2/catch.hpp>

#include <tuple>

using namespace tempinbox;
using namespace tempinbox::gateway;
using testing::make_request;

namespace {

const std::string good_key = accounts::make_api_key().reveal();

result<std::string> find(http::header_list headers)
{
    return find_api_key(make_request("GET", "/v1/inboxes", "", std::move(headers)));
}

result<std::string> find_in_url(std::string_view name, const std::string& value,
                                const std::string& key = "")
{
    auto received = make_request("GET", "/v1/inboxes", key);
    received.query.emplace_back(name, value);
    return find_api_key(received);
}

} // namespace

TEST_CASE("a key is taken from X-API-Key, or as Authorization: Bearer", "[gateway][pipeline]")
{
    CHECK(find({{"X-API-Key", good_key}}).value() == good_key);
    for (const auto* scheme : {"Bearer ", "bearer ", "BEARER   "})
        CHECK(find({{"Authorization", scheme + good_key}}).value() == good_key);
}

TEST_CASE("a key in both headers is taken where it is the same", "[gateway][pipeline]")
{
    const auto other_key = accounts::make_api_key().reveal();

    CHECK(find({{"X-API-Key", good_key}, {"Authorization", "Bearer " + good_key}}).value() ==
          good_key);
    CHECK(
        find({{"X-API-Key", good_key}, {"Authorization", "Bearer " + other_key}}).error().reason ==
        error_reason::key_conflict);
    CHECK(find({{"X-API-Key", good_key}, {"Authorization", "Bearer nonsense"}}).error().reason ==
          error_reason::key_conflict);
}

TEST_CASE("Authorization of another scheme beside X-API-Key is a proxy's", "[gateway][pipeline]")
{
    CHECK(find({{"X-API-Key", good_key}, {"Authorization", "Basic dTpw"}}).value() == good_key);
}

TEST_CASE("what is no key is refused with its reason, which does not show the key",
          "[gateway][pipeline]")
{
    const auto bearer = "Bearer " + good_key;
    for (const auto& [lookup, reason, says] :
         {std::tuple{find({}), error_reason::key_missing, "is missing"},
          {find({{"Authorization", "Basic " + good_key}}), error_reason::key_missing,
           "must be Bearer"},
          {find({{"Authorization", "Bearer "}}), error_reason::key_missing, "must be Bearer"},
          {find({{"Authorization", "Bearer nonsense"}}), error_reason::key_invalid,
           "Bearer is not a valid API key"},
          {find({{"X-API-Key", "nonsense"}}), error_reason::key_invalid,
           "X-API-Key is not a valid API key"},
          {find({{"X-API-Key", ""}}), error_reason::key_invalid,
           "X-API-Key is not a valid API key"},
          {find({{"X-API-Key", good_key}, {"x-api-key", good_key}}), error_reason::key_conflict,
           "more than once"},
          {find({{"Authorization", bearer}, {"authorization", bearer}}), error_reason::key_conflict,
           "more than once"},
          {find_in_url("api_key", "nonsense"), error_reason::key_in_url, "revoke"},
          {find_in_url("subject", good_key), error_reason::key_in_url, "revoke"},
          {find_in_url("key", good_key, good_key), error_reason::key_in_url, "revoke"}}) {
        REQUIRE_FALSE(lookup);
        CHECK(lookup.error().code == errc::unauthenticated);
        CHECK(lookup.error().reason == reason);
        CHECK_THAT(lookup.error().message, Catch::Contains(says));
        CHECK(lookup.error().message.find(good_key) == std::string::npos);
    }
}

TEST_CASE("a parameter with a name of keys is the operation's to refuse where there is a key",
          "[gateway][pipeline]")
{
    CHECK(find_in_url("token", "x", good_key).value() == good_key);
}

TEST_CASE("a key that does not exist is named by the header that it came in", "[gateway][pipeline]")
{
    const auto bearer = make_request("GET", "/v1/inboxes", "", {{"Authorization", "Bearer x"}});

    CHECK(invalid_api_key(bearer).message == "Authorization: Bearer is not a valid API key");
    CHECK(invalid_api_key(make_request("GET", "/v1/inboxes", good_key)).message ==
          "X-API-Key is not a valid API key");
}
