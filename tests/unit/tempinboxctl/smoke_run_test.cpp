#include "tempinboxctl/smoke_run.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tempinbox;
using namespace tempinbox::ctl;

namespace {

const smoke_step taken{"mail", smoke_step::status::ok, 12ms, "127.0.0.1:2525 took it"};
const smoke_step skipped{"endpoint", smoke_step::status::skipped, 0ms, "receiver is private"};
const smoke_step failed{"wait", smoke_step::status::failed, 30'000ms, "no email"};

} // namespace

TEST_CASE("a step of a smoke test is a line with its time", "[tempinboxctl][smoke]")
{
    CHECK(line_of(taken) == "ok       mail        0.012 s  127.0.0.1:2525 took it");
    CHECK(line_of(skipped) == "skipped  endpoint    0.000 s  receiver is private");
    CHECK(line_of(failed) == "failed   wait       30.000 s  no email");
}

TEST_CASE("a smoke test fails with one of its steps, and passes with a skipped one",
          "[tempinboxctl][smoke]")
{
    CHECK_FALSE(to_result({taken, skipped}).is_failure);
    CHECK(to_text(to_result({taken, skipped})) == "smoke test passed\n");
    CHECK(to_result({taken, failed}).is_failure);
    CHECK(to_json(to_result({taken})) ==
          "{\"steps\":[{\"step\":\"mail\",\"status\":\"ok\",\"durationMs\":12,\"detail\":"
          "\"127.0.0.1:2525 took it\"}]}\n");
}

TEST_CASE("a webhook counts only with a good signature", "[tempinboxctl][smoke]")
{
    // The example of the Standard Webhooks specification.
    const secret signing("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    const std::string body = R"({"test": 2432232314})";
    const auto signed_by = [](const std::string& signatures) {
        return http::header_list{{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"},
                                 {"webhook-timestamp", "1614265330"},
                                 {"webhook-signature", signatures}};
    };
    const std::string good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    CHECK(is_signed(signed_by(good), body, signing));
    CHECK(is_signed(signed_by("v1,bm9uZQ== " + good), body, signing));
    CHECK_FALSE(is_signed(signed_by("v1,bm9uZQ=="), body, signing));
    CHECK_FALSE(is_signed(signed_by(good), body + " ", signing));
    CHECK_FALSE(is_signed(signed_by(good), body, secret("whsec_AAAA")));
    CHECK_FALSE(is_signed({}, body, signing));
}
