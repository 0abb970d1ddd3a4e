#pragma once

#include "accounts/account_repository.hpp"
#include "accounts/api_key.hpp"
#include "common/core/encoding.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "gateway/pipeline/api_pipeline.hpp"
#include "unit/gateway/pipeline/test_operations.hpp"
#include "unit/gateway/quota/fake_rate_limit.hpp"

#include <string>
#include <vector>

namespace tempinbox::testing {

// Well-formed, and in no database.
inline std::string unknown_key()
{
    return accounts::make_api_key().reveal();
}

// The API's pipeline over a database of its own, in which one account on the plan premium has a
// key. Rate-limit and the inbox service are in this process. The clock stands at noon of tomorrow,
// so that a test can have keys and plans end, which PostgreSQL still takes for good. The key cache
// looks every key up, so what a test changes counts at once, until the test starts it.
class arranged_api
{
public:
    explicit arranged_api(std::vector<gateway::route> operations = test_operations())
        : pipeline(clock, std::move(operations),
                   {key_cache, key_uses, *quota, idempotency, tags, inboxes, memory}, {})
    {
        rate_limit.reset = gateway::next_midnight(noon);
        rate_limit.network->add(inbox_methods::check_tag, [this](inbox::v1::CheckTagRequest asked) {
            return find_tagged(std::move(asked));
        });
        account = create_account("premium");
        key = create_key(account);
    }
    ~arranged_api()
    {
        if (is_cache_started_)
            await(key_cache.stop());
    }

    account_id create_account(const std::string& plan)
    {
        const auto email = uuid::make_v7().text() + "@example.com";
        return await(accounts.create(account_id::make(), email, plan))->id();
    }
    std::string create_key(account_id owner, const accounts::key_access& access = {})
    {
        return await(keys.create(owner, key_id::make(), "a key",
                                 accounts::key_allowance::operator_made, access))
            ->key.reveal();
    }
    // From now on good keys are known from memory.
    void start_cache()
    {
        key_cache.start();
        is_cache_started_ = true;
        const auto digest = accounts::api_key_digest(key);
        const auto is_known = [&] {
            return !await(key_cache.find(digest, gateway::lookups::all))->was_looked_up;
        };
        if (!eventually(is_known))
            throw std::runtime_error("the key cache does not get to know a key");
    }

    http::response send(http::request received) { return await(pipeline.handle(received)); }
    http::response send(const std::string& method, const std::string& path)
    {
        return send(make_request(method, path, key));
    }
    http::response post_once(const std::string& path, const std::string& idempotency_key)
    {
        auto received = make_request("POST", path, key);
        received.headers.emplace_back("Idempotency-Key", idempotency_key);
        return send(std::move(received));
    }

    // What was counted of the account's day.
    std::int64_t counted() { return rate_limit.used[account.text()]; }
    std::int64_t lookups() const { return static_cast<std::int64_t>(lookups_.Value()); }
    bool is_use_noted()
    {
        await(key_uses.flush());
        return await(keys.list(account))->front().last_used_at.has_value();
    }
    std::int64_t stored_responses()
    {
        return scratch.execute("SELECT count(*) FROM accounts.idempotency_keys")[0][0]
            .as<std::int64_t>();
    }

    const time_point noon = day_of(test_host().clock().now()) + std::chrono::hours(36);
    manual_clock clock{noon};
    scratch_database scratch{{"accounts"}};
    accounts::account_repository accounts{scratch.db(), accounts::state_publisher("test", nullptr)};
    accounts::key_repository keys{scratch.db()};
    accounts::idempotency_repository idempotency_keys{scratch.db()};
    fake_rate_limit rate_limit;
    bool is_outside_tag = false; // every inbox
    gateway::lookup_limiter strangers{test_host(), 1, 0};
    gateway::key_cache key_cache{test_host(), keys, keys, strangers};
    gateway::key_uses key_uses{test_host(), keys};
    running_quota_client quota{rate_limit};
    gateway::inbox_client inboxes{test_host(),
                                  {in_process_services::anywhere()},
                                  rate_limit.network->tokens(),
                                  rate_limit.network->client_settings()};
    gateway::tag_check tags{inboxes};
    gateway::idempotent_calls idempotency{
        test_host(),
        idempotency_keys,
        {crypto::keyring::parse("one:" + to_base64(std::string(32, 'k'))).value(), {}},
        10'000};
    gateway::response_budget memory{1'000'000};
    gateway::api_pipeline pipeline;
    account_id account;
    std::string key;

private:
    awaitable<result<inbox::v1::CheckTagResponse>> find_tagged(inbox::v1::CheckTagRequest asked)
    {
        if (is_outside_tag)
            co_return failure{errc::not_found, "Inbox " + asked.inbox_id() + " does not exist"};
        co_return inbox::v1::CheckTagResponse();
    }

    bool is_cache_started_ = false;
    prometheus::Counter& lookups_ = test_host().metrics().counter(
        "tempinbox_gateway_key_lookups_total", "API keys looked up in PostgreSQL");
};

} // namespace tempinbox::testing
