#include "mail-ingest/recipients/account_limits.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::mail_ingest;

namespace {

plans::account_state state_of(account_id account, std::int64_t version, bool is_deleted = false)
{
    plans::account_state state;
    state.account = account;
    state.version = version;
    state.is_deleted = is_deleted;
    state.limits.max_message_bytes = 1000 + version;
    return state;
}

} // namespace

TEST_CASE("of what is said of an account the higher version holds", "[mail-ingest]")
{
    account_limits limits(10);
    const auto account = account_id::make();
    const time_point now{};

    CHECK_FALSE(limits.max_message_bytes(account, now));
    limits.put(state_of(account, 3));
    limits.put(state_of(account, 2));
    CHECK(limits.max_message_bytes(account, now) == 1003U);
    limits.put(state_of(account, 4));
    CHECK(limits.max_message_bytes(account, now) == 1004U);
}

TEST_CASE("a deleted account stays deleted, whatever is said of it and was known before",
          "[mail-ingest]")
{
    account_limits limits(10);
    const auto known = account_id::make(), unknown = account_id::make();
    const time_point now{};
    limits.put(state_of(known, 7));

    limits.put(state_of(known, 5, true));
    limits.put(state_of(unknown, 5, true));
    for (const auto account : {known, unknown})
        for (const std::int64_t version : {4, 5, 9})
            limits.put(state_of(account, version));

    CHECK(limits.max_message_bytes(known, now) == 0U);
    CHECK(limits.max_message_bytes(unknown, now) == 0U);
}
