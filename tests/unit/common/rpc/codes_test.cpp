#include "common/rpc/codes.hpp"

#include "unit/common/every_errc.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace tempinbox;

TEST_CASE("a failure keeps its meaning through the Connect code", "[rpc]")
{
    for (const auto code :
         {errc::invalid_argument, errc::unauthenticated, errc::permission_denied, errc::not_found,
          errc::conflict, errc::unprocessable, errc::rate_limited, errc::payload_too_large,
          errc::unavailable, errc::deadline_exceeded, errc::internal}) {
        CAPTURE(to_string(code));
        CHECK(rpc::code_from_connect(rpc::connect_code(code)) == code);
    }
}

TEST_CASE("every errc has a Connect code of its own", "[rpc]")
{
    std::set<std::string_view> codes;
    for (const auto code : testing::every_errc()) {
        CAPTURE(to_string(code));
        CHECK(codes.insert(rpc::connect_code(code)).second);
        CHECK(rpc::connect_http_status(code) >= 400);
    }
}

TEST_CASE("codes have the HTTP status of the Connect protocol", "[rpc]")
{
    CHECK(rpc::connect_http_status(errc::invalid_argument) == 400);
    CHECK(rpc::connect_http_status(errc::unprocessable) == 400);
    CHECK(rpc::connect_http_status(errc::conflict) == 409);
    CHECK(rpc::connect_http_status(errc::rate_limited) == 429);
    CHECK(rpc::connect_http_status(errc::unavailable) == 503);
    CHECK(rpc::connect_http_status(errc::deadline_exceeded) == 504);
}

TEST_CASE("codes of others are taken for the nearest of ours", "[rpc]")
{
    CHECK(rpc::code_from_connect("aborted") == errc::conflict);
    CHECK(rpc::code_from_connect("canceled") == errc::unavailable);
    CHECK(rpc::code_from_connect("unknown") == errc::internal);
    CHECK(rpc::code_from_connect("unimplemented") == errc::internal);
    CHECK(rpc::code_from_connect("data_loss") == errc::internal);
    CHECK(rpc::code_from_connect("") == errc::internal);
}
