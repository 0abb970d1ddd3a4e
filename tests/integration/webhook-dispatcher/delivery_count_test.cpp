#include "webhook-dispatcher/storage/delivery_repository.hpp"

#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;

TEST_CASE("ended deliveries are counted by the day of their event, to one's own webhooks only",
          "[webhooks][postgres]")
{
    testing::scratch_database scratch({"webhooks"});
    delivery_repository deliveries(scratch.db());
    const auto alice = account_id::make(), bob = account_id::make();
    const auto hers = webhook_id::make(), his = webhook_id::make();
    const auto now = system_clock_source{}.now();
    for (const auto& [account, webhook] : {std::pair(alice, hers), std::pair(bob, his)})
        scratch.execute("INSERT INTO webhooks.endpoints (account_id, webhook_id, url, events, "
                        "description, sealed_secret) VALUES ('" +
                        account.text() + "', '" + webhook.text() +
                        "', 'https://example.com/', '{}', '', '')");
    const auto deliver = [&](account_id account, webhook_id webhook, time_point at) {
        scratch.execute("INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, "
                        "attempts, rule_ids, created_at) VALUES ('" +
                        uuid::make_v7(at).text() + "', '" + webhook.text() + "', '" +
                        account.text() + "', 'succeeded', 1, '{}', now())");
    };
    deliver(alice, hers, now);
    deliver(alice, hers, now);
    deliver(bob, his, now);
    deliver(alice, hers, now - std::chrono::days(3));
    deliver(alice, hers, now - std::chrono::days(31));

    const auto found = testing::await(deliveries.count_by_day(alice, 30));

    REQUIRE(found.size() == 2);
    CHECK(found[0].number == 1);
    CHECK(found[1].number == 2);
    CHECK(found[1].day - found[0].day == std::chrono::days(3));
}
