#include "gateway/pipeline/key_headers.hpp"

#include "accounts/api_key.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using testing::make_request;

namespace {

const std::string good_key = accounts::make_api_key().reveal();

result<std::string> find(http::header_list headers, key_headers allowed)
{
    return find_api_key(make_request("POST", "/programs", "", std::move(headers)), allowed);
}

} // namespace

TEST_CASE("two keys are none", "[gateway][pipeline]")
{
    const auto allowed = GENERATE(key_headers::x_api_key, key_headers::x_api_key_or_bearer);

    CHECK(find({{"X-API-Key", good_key}}, allowed).value() == good_key);
    CHECK_FALSE(find({{"X-API-Key", good_key}, {"x-api-key", good_key}}, allowed));
}

TEST_CASE("Authorization holds no key where the path takes X-API-Key alone", "[gateway][pipeline]")
{
    const auto bearer = find({{"Authorization", "Bearer " + good_key}}, key_headers::x_api_key);

    CHECK(bearer.error().message == "Header X-API-Key is missing");
    CHECK(find({{"X-API-Key", good_key}, {"Authorization", "Basic x"}}, key_headers::x_api_key));
}

TEST_CASE("where the path takes either header the key is in one of them, and never in the address",
          "[gateway][pipeline]")
{
    const auto find_either = [](http::header_list headers) {
        return find(std::move(headers), key_headers::x_api_key_or_bearer);
    };
    auto address = make_request("POST", "/programs", good_key);
    address.query.emplace_back("key", good_key);

    CHECK(find_either({{"X-API-Key", good_key}}).value() == good_key);
    CHECK(find_either({{"Authorization", "bearer " + good_key}}).value() == good_key);
    for (const auto& [lookup, says] :
         {std::pair{find_either({{"X-API-Key", good_key}, {"Authorization", "Bearer " + good_key}}),
                    "more than once"},
          {find_either({{"Authorization", "Basic " + good_key}}), "must be Bearer"},
          {find_either({}), "is missing"},
          {find_either({{"Authorization", "Bearer nonsense"}}), "Bearer is not a valid API key"},
          {find_either({{"X-API-Key", "nonsense"}}), "X-API-Key is not a valid API key"},
          {find_api_key(address, key_headers::x_api_key_or_bearer), "revoke"}}) {
        REQUIRE_FALSE(lookup);
        CHECK(lookup.error().code == errc::unauthenticated);
        CHECK_THAT(lookup.error().message, Catch::Contains(says));
        CHECK(lookup.error().message.find(good_key) == std::string::npos);
    }
}

TEST_CASE("a key that does not exist is named by the header that it came in", "[gateway][pipeline]")
{
    const auto bearer = make_request("POST", "/programs", "", {{"Authorization", "Bearer x"}});

    CHECK(invalid_api_key(bearer, key_headers::x_api_key_or_bearer) ==
          "Authorization: Bearer is not a valid API key");
    CHECK(invalid_api_key(bearer, key_headers::x_api_key) == "X-API-Key is not a valid API key");
}
