#include "integration/gateway/pipeline/arranged_api.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using testing::arranged_api;
using testing::await;
using testing::make_request;
using testing::number;
using testing::unknown_key;

namespace {

unsigned send_unknown(arranged_api& api)
{
    return api.send(make_request("GET", "/v1/things", unknown_key())).status;
}

} // namespace

TEST_CASE("sixty failures from one address are 401, then 429 until the minute ends, and a valid "
          "key passes all the while",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    for (int i = 59; i >= 0; --i) {
        const auto response =
            api.send(make_request("GET", "/v1/things", i % 2 == 0 ? "" : unknown_key()));
        CHECK(response.status == 401);
        CHECK(number(response, "X-RateLimit-Limit") == 60);
        CHECK(number(response, "X-RateLimit-Remaining") == i);
    }

    const auto past = api.send(make_request("GET", "/v1/things", "nonsense"));
    const auto valid = api.send("GET", "/v1/things");

    CHECK(past.status == 429);
    CHECK(number(past, "Retry-After") == 60);
    CHECK(valid.status == 200);
}

TEST_CASE("past sixty lookups of unknown keys an address gets no more, but keys seen good pass",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    const auto unseen = api.create_key(api.account);
    api.start_cache();
    for (int i = 0; i < 60; ++i)
        CHECK(send_unknown(api) == 401);
    const auto looked_up = api.lookups();

    const auto past = api.send(make_request("GET", "/v1/things", unknown_key()));
    const auto good_but_unseen = api.send(make_request("GET", "/v1/things", unseen));
    CHECK(api.lookups() == looked_up);

    CHECK(past.status == 429);
    CHECK(number(past, "Retry-After") == 60);
    CHECK(number(past, "X-RateLimit-Limit") == 60);
    CHECK(number(past, "X-RateLimit-Remaining") == 0);
    CHECK(good_but_unseen.status == 429);
    CHECK(api.send("GET", "/v1/things").status == 200);
    api.clock.advance(std::chrono::minutes(1));
    CHECK(api.send(make_request("GET", "/v1/things", unseen)).status == 200);
}

TEST_CASE("a key that cannot be looked up now is 503, which costs its address nothing",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    auto taken = await(api.strangers.enter());

    const auto refused = api.send("GET", "/v1/things");
    taken.reset();
    const auto later = api.send(make_request("GET", "/v1/things", unknown_key()));

    CHECK(refused.status == 503);
    CHECK(number(refused, "Retry-After") == 1);
    CHECK(number(later, "X-RateLimit-Remaining") == 59);
}

TEST_CASE("the header alone decides over a request without a well-formed key, as the whole request "
          "does",
          "[gateway][pipeline][postgres]")
{
    arranged_api api, whole;
    const auto looked_up = api.lookups();
    for (const std::string path : {"/v1/things", "/v1/nothing", "/programs"})
        for (const std::string key : {"", "nonsense"}) {
            auto received = make_request("POST", path, key);

            const auto early = api.pipeline.judge_header(received);
            const auto late = whole.send(received);

            REQUIRE(early);
            CHECK(early->status == 401);
            CHECK(early->body == late.body);
            CHECK(number(*early, "X-RateLimit-Remaining") == 59);
            CHECK(early->headers == late.headers);
            api.clock.advance(std::chrono::minutes(1));
            whole.clock.advance(std::chrono::minutes(1));
        }
    CHECK(api.lookups() == looked_up);
}

TEST_CASE("the header alone decides over what a path's entry check refuses",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    auto received = make_request("POST", "/programs", api.key, {{"Origin", "https://a.example"}});

    const auto early = api.pipeline.judge_header(received);
    const auto late = api.send(received);

    REQUIRE(early);
    CHECK(early->status == 403);
    CHECK(early->body == late.body);
    CHECK(early->headers == late.headers);
}

TEST_CASE("a well-formed key is not judged by the header, and costs nothing there",
          "[gateway][pipeline][postgres]")
{
    arranged_api api;
    const auto looked_up = api.lookups();
    auto received = make_request("POST", "/v1/things", unknown_key());

    CHECK_FALSE(api.pipeline.judge_header(received));

    CHECK(api.lookups() == looked_up);
    CHECK(number(api.send(make_request("GET", "/v1/things")), "X-RateLimit-Remaining") == 59);
}
