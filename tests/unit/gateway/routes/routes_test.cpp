#include "gateway/routes/routes.hpp"

#include "unit/gateway/pipeline/test_operations.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::gateway;
using testing::make_request;

TEST_CASE("HEAD finds the operation of GET, and another method none", "[gateway][pipeline]")
{
    const routes operations(testing::test_operations());

    const auto head = operations.find(make_request("HEAD", "/v1/things"));
    const auto removed = operations.find(make_request("DELETE", "/v1/things"));

    REQUIRE(head.operation);
    CHECK(head.operation->method == "GET");
    CHECK_FALSE(removed.operation);
    CHECK(removed.path.allow == "GET, HEAD, POST, OPTIONS");
}

TEST_CASE("a path is entered in one way, whatever the method", "[gateway][pipeline]")
{
    const routes operations(testing::test_operations());

    const auto posted = operations.find(make_request("POST", "/programs"));
    const auto read = operations.find(make_request("GET", "/programs"));

    CHECK(posted.operation);
    CHECK_FALSE(read.operation);
    for (const auto& match : {posted, read})
        CHECK(match.entry == testing::refuse_pages);
}

TEST_CASE("a path that is none is entered as most are", "[gateway][pipeline]")
{
    const routes operations(testing::test_operations());

    const auto nothing = operations.find(make_request("GET", "/v1/nothing"));

    CHECK_FALSE(nothing.operation);
    CHECK_FALSE(nothing.entry);
    CHECK_FALSE(operations.has_path("/v1/nothing"));
    CHECK(operations.has_path("/programs"));
}

TEST_CASE("operations of one path that are entered in two ways are a bug", "[gateway][pipeline]")
{
    auto all = testing::test_operations();
    all.emplace_back("GET", "/programs", body_kind::none, testing::respond_ok);

    CHECK_THROWS_AS(routes(std::move(all)), std::logic_error);
}
