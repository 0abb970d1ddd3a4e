#include "common/plans/account_state.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

plans::account_state some_state()
{
    plans::account_state state;
    state.account = account_id::make();
    state.plan = "pass7";
    state.plan_ends_at = *parse_iso8601("2026-11-28T10:00:00.123456Z");
    state.version = 17;
    state.limits.api_access = true;
    state.limits.requests_per_day = 3'000;
    state.limits.burst_per_second = 50;
    state.limits.live_inboxes = 50;
    state.limits.default_ttl = 24h;
    state.limits.max_ttl = 168h;
    state.limits.max_message_bytes = 26'214'400;
    state.limits.webhooks = 1;
    state.limits.api_keys = 1;
    state.limits.routing_rules = 3;
    state.limits.captures = 2;
    state.limits.catch_alls = 0;
    return state;
}

} // namespace

TEST_CASE("a state survives the wire", "[plans]")
{
    const auto state = some_state();

    const auto read = plans::from_proto(plans::to_proto(state));

    REQUIRE(read);
    CHECK(read->account == state.account);
    CHECK(read->plan == "pass7");
    CHECK(read->plan_ends_at == state.plan_ends_at);
    CHECK(read->version == 17);
    CHECK(read->limits == state.limits);
    CHECK(read->limits_after_end == state.limits_after_end);
    CHECK_FALSE(read->is_deleted);
}

TEST_CASE("a limit that a record does not have is not known, which is not zero", "[plans]")
{
    const plans::plan_limits without;

    const auto message = plans::to_proto(without);
    const auto read = plans::from_proto(plans::to_proto(some_state().limits));

    CHECK_FALSE(message.has_captures());
    CHECK_FALSE(message.has_catch_alls());
    CHECK(plans::from_proto(message).captures == std::nullopt);
    CHECK(read.captures == 2);
    CHECK(read.catch_alls == 0);
}

TEST_CASE("a plan without end stays without end", "[plans]")
{
    auto state = some_state();
    state.plan_ends_at.reset();
    state.is_deleted = true;

    const auto read = plans::from_proto(plans::to_proto(state));

    REQUIRE(read);
    CHECK_FALSE(read->plan_ends_at);
    CHECK(read->is_deleted);
}

TEST_CASE("a state with a bad account is refused", "[plans]")
{
    accounts::v1::AccountState message;
    message.set_account_id("nobody");
    CHECK_FALSE(plans::from_proto(message));
}

TEST_CASE("a plan that ended is free from that moment on", "[plans]")
{
    const auto state = some_state();
    const auto end = *state.plan_ends_at;

    CHECK(state.plan_at(end - 1us) == "pass7");
    CHECK(state.limits_at(end - 1us).api_access);
    CHECK(state.plan_at(end) == "free");
    CHECK_FALSE(state.limits_at(end).api_access);
}
