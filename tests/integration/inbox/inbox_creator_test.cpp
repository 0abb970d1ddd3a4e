#include "common/rpc/inbox_methods.hpp"
#include "integration/inbox/running_service.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::inbox;
using namespace std::chrono_literals;

namespace {

v1::CreateInboxRequest request_of(const account_id& account, std::int32_t live_inboxes)
{
    v1::CreateInboxRequest request;
    request.mutable_account()->set_account_id(account.text());
    request.mutable_account()->set_version(1);
    auto& limits = *request.mutable_account()->mutable_limits();
    limits.set_live_inboxes(live_inboxes);
    limits.set_default_ttl_seconds(3'600);
    limits.set_max_ttl_seconds(86'400);
    request.set_inbox_id(inbox_id::make().text());
    return request;
}

struct counts
{
    int created = 0;
    int refused = 0;

    int all() const { return created + refused; }
};

// By the old way of one call a request, or together with others.
awaitable<void> create_and_count(rpc::client& client, v1::CreateInboxRequest request,
                                 bool is_batched, counts& seen)
{
    const auto account = account_id::parse(request.account().account_id()).value();
    result<v1::CreateInboxResponse> created = failure{errc::internal, ""};
    if (is_batched)
        created = co_await client.call_batched(inbox_methods::create_inbox, std::move(request),
                                               account.value());
    else
        created = co_await client.call(inbox_methods::create_inbox, std::move(request));
    ++(created ? seen.created : seen.refused);
}

} // namespace

TEST_CASE("of 200 calls at once exactly as many inboxes are created as the plan allows",
          "[inbox][create][postgres][kafka]")
{
    running_service running;
    running.add_domain();
    const auto account = account_id::make();
    counts seen;

    for (int i = 0; i < 200; ++i)
        boost::asio::co_spawn(
            testing::test_host().loop(),
            create_and_count(*running.client, request_of(account, 50), i % 4 != 0, seen),
            boost::asio::detached);
    REQUIRE(testing::eventually([&] { return seen.all() == 200; }, 30s));

    CHECK(seen.created == 50);
    const auto made = running.scratch.execute(
        "SELECT count(*), count(DISTINCT email_address), count(DISTINCT xmin::text) FROM "
        "mailbox.inboxes");
    CHECK(made[0][0].as<int>() == 50);
    CHECK(made[0][1].as<int>() == 50);
    CHECK(made[0][2].as<int>() < 20); // transactions
    CHECK(testing::eventually([&] {
        return std::count_if(running.events.begin(), running.events.end(), [](const auto& event) {
                   return event.topic == "inbox.created";
               }) == 50;
    }));
}
