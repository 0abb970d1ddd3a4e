#include "gateway/pipeline/response_budget.hpp"

#include "gateway/resources/wait.hpp"
#include "unit/gateway/long_poll/fake_inbox.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tempinbox;
using namespace tempinbox::gateway;

TEST_CASE("an account takes a quarter of the memory, or one thing alone; the rest is for others",
          "[gateway][response_budget]")
{
    response_budget memory(1'000);
    const auto ann = account_id::make(), bob = account_id::make(), eve = account_id::make();

    auto first = memory.try_reserve(ann, 200);
    const auto second = memory.try_reserve(ann, 51);
    const auto other = memory.try_reserve(bob, 600);
    const auto none_left = memory.try_reserve(eve, 250);

    CHECK(first);
    CHECK_FALSE(second);
    CHECK(other);
    CHECK_FALSE(none_left);
    CHECK(memory.used() == 800);
    first.reset();
    CHECK(memory.used() == 600);
    CHECK(memory.try_reserve(ann, 250));
    CHECK(memory.try_reserve(eve, 250));
    CHECK(memory.used() == 600);
}

TEST_CASE("a large answer may outlive the memory it is counted in", "[gateway][response_budget]")
{
    http::response kept;
    {
        response_budget memory(1'000'000);
        kept =
            reserve_response(http::ok_json(std::string(100'000, 'x')), account_id::make(), memory);
        CHECK(memory.used() == 100'000);
        CHECK(reserve_response(http::ok_json("{}"), account_id::make(), memory).reservation ==
              nullptr);
    }
    CHECK(kept.status == 200);
}

TEST_CASE(
    "one large email for many waiters takes no more than the response budget; the others retry",
    "[gateway][response_budget][long_poll]")
{
    testing::fake_inbox mail;
    mail.text.assign(90'000, 'x');
    mail.add("large");
    long_poll_hub hub(testing::test_host(), mail.client, mail.memory, long_poll_limits(100));
    response_budget memory(1'000'000);
    caller who;
    who.state.account = mail.account;
    // As a pipeline does with a read.
    const auto send = [&] {
        auto received = testing::make_request("GET", "/v1/inboxes/{inboxId}/emails/wait");
        received.path_params.emplace_back("inboxId", mail.inbox.text());
        auto response =
            testing::await(wait_for_email(received, who, hub, mail.client, mail.memory));
        return reserve_response(std::move(response), who.account(), memory);
    };

    std::vector<http::response> responses;
    std::size_t max_used = 0;
    for (int i = 0; i < 20; ++i) {
        responses.push_back(send());
        max_used = std::max(max_used, memory.used());
    }

    CHECK(max_used <= 250'000);
    for (std::size_t i = 0; i < responses.size(); ++i)
        CHECK(responses[i].status == (i < 2 ? 200U : 503U));
    responses.clear();
    CHECK(memory.used() == 0);
    CHECK(send().status == 200);
}
