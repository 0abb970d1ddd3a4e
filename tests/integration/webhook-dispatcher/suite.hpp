#pragma once

#include "integration/webhook-dispatcher/dispatcher.hpp"
#include "integration/webhook-dispatcher/receiver.hpp"

namespace tempinbox::testing {

// One account with one dispatcher and one receiver.
struct suite
{
    scratch_database scratch{{"webhooks"}};
    dispatcher process;
    receiver hook;
    account_id account = account_id::make();

    explicit suite(webhooks::engine_limits limits = {})
        : process(scratch.dsn(), loopback_policy(), limits)
    {}

    webhooks::v1::CreateWebhookResponse create_webhook(const std::string& url)
    {
        return await(process.webhook_rpc.create(webhook_request(account, url))).value();
    }
    void deliver(const std::vector<kafka::record>& records)
    {
        await(process.ingest.handle(records));
    }
    // Makes every leased delivery due for anyone, whoever holds it.
    void free_leases()
    {
        scratch.execute("UPDATE webhooks.due_deliveries SET lease_id = NULL, lease_until = NULL, "
                        "run_at = now()");
    }
    int count(const std::string& query)
    {
        return scratch.execute("SELECT count(*) FROM " + query)[0][0].as<int>();
    }
    std::string create_rule(const std::string& webhook, const std::string& subject = "")
    {
        return await(process.rule_rpc.create(rule_request(account, webhook, subject)))
            .value()
            .rule()
            .rule_id();
    }
    bool becomes(const std::string& query, int expected)
    {
        // Between two calls of this the loop runs one handler: most calls look at the clock only,
        // and the wait for the next query begins where the last one ended. If queries
        // took longer than that wait, the loop would run one handler a query.
        auto next_query = std::chrono::steady_clock::now();
        return eventually(
            [&] {
                if (std::chrono::steady_clock::now() < next_query)
                    return false;
                const bool is_there = count(query) == expected;
                next_query = std::chrono::steady_clock::now() + std::chrono::milliseconds(25);
                return is_there;
            },
            std::chrono::seconds(60));
    }
};

} // namespace tempinbox::testing
