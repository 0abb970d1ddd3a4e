#include "webhook-dispatcher/delivery/schedule.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using namespace tempinbox::webhooks;
using namespace std::chrono_literals;

TEST_CASE("ten attempts are spread over about 2.9 days", "[webhooks][schedule]")
{
    const std::chrono::milliseconds expected[] = {0s, 5s, 30s, 5min, 30min, 2h, 6h, 12h, 24h, 24h};

    std::chrono::milliseconds total{0};
    for (int attempt = 1; attempt <= attempt_limit; ++attempt) {
        CHECK(base_wait(attempt) == expected[attempt - 1]);
        total += base_wait(attempt);
    }

    CHECK(total > 68h);
    CHECK(total < 70h);
    CHECK(total < delivery_lifetime);
}

TEST_CASE("the first attempt does not wait, later ones by 0.8 to 1.2 of their base",
          "[webhooks][schedule]")
{
    const auto event = event_id::make();
    const auto webhook = webhook_id::make();

    CHECK(jittered_wait(event, webhook, 1) == 0ms);
    for (int attempt = 2; attempt <= attempt_limit; ++attempt) {
        CHECK(jittered_wait(event, webhook, attempt) >= base_wait(attempt) * 8 / 10 - 1ms);
        CHECK(jittered_wait(event, webhook, attempt) <= base_wait(attempt) * 12 / 10);
    }
}

TEST_CASE("jitter can be predicted and differs between events, webhooks and attempts",
          "[webhooks][schedule]")
{
    const auto event = event_id::make();
    const auto webhook = webhook_id::make();

    CHECK(jitter_seed(event, webhook, 2) == jitter_seed(event, webhook, 2));
    CHECK(jitter_seed(event, webhook, 2) != jitter_seed(event, webhook, 3));
    CHECK(jitter_seed(event_id::make(), webhook, 2) != jitter_seed(event, webhook, 2));
    CHECK(jitter_seed(event, webhook_id::make(), 2) != jitter_seed(event, webhook, 2));
}

TEST_CASE("jitter spreads a burst evenly", "[webhooks][schedule]")
{
    const auto webhook = webhook_id::make();
    constexpr int count = 2'000;

    double sum = 0;
    int low = 0;
    for (int i = 0; i < count; ++i) {
        const double seed = jitter_seed(event_id::make(), webhook, 2);
        sum += seed;
        low += seed < 0.25 ? 1 : 0;
    }

    CHECK(sum / count == Approx(0.5).margin(0.05));
    CHECK(low > count / 5);
    CHECK(low < count * 3 / 10);
}
