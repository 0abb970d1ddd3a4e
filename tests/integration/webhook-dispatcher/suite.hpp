#pragma once

#include "integration/webhook-dispatcher/dispatcher.hpp"
#include "integration/webhook-dispatcher/receiver.hpp"

#include <chrono>
#include <string>

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
    // False if the count stays another one for a minute. The whole has no deadline: on a busy
    // machine many deliveries take longer, and each of them changes the count.
    bool becomes(const std::string& query, int expected)
    {
        int current = count(query);
        while (current != expected) {
            if (!changes(query, current))
                return false;
        }
        return true;
    }

private:
    bool changes(const std::string& query, int& current)
    {
        // Between two calls of this the loop runs one handler: most calls look at the clock only,
        // and the wait for the next query begins where the last one ended. If queries
        // took longer than that wait, the loop would run one handler a query.
        using std::chrono::steady_clock;
        constexpr std::chrono::milliseconds query_interval(25);
        const int before = current;
        auto next_query = steady_clock::now() + query_interval;
        return eventually(
            [&] {
                if (steady_clock::now() < next_query)
                    return false;
                current = count(query);
                next_query = steady_clock::now() + query_interval;
                return current != before;
            },
            std::chrono::seconds(60));
    }
};

} // namespace tempinbox::testing
