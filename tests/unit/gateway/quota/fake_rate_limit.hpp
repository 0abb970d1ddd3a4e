#pragma once

#include "common/async/reset_event.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/testing/await.hpp"
#include "gateway/quota/quota_client.hpp"
#include "unit/common/rpc/in_process_services.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tempinbox::testing {

// A rate-limit service in the process: counts each account's units against its limit, responds when
// the test lets it, and records the calls.
class fake_rate_limit
{
public:
    fake_rate_limit() : fake_rate_limit(std::make_shared<in_process_services>(), 1) {}
    // Another replica, for the same clients.
    fake_rate_limit(const fake_rate_limit& first, std::uint16_t port)
        : fake_rate_limit(first.network, port)
    {}
    fake_rate_limit(const fake_rate_limit&) = delete;

    const std::shared_ptr<in_process_services> network;
    const host_port address;

    void hold() { is_held_ = true; }
    void release()
    {
        is_held_ = false;
        for (const auto& gate : held_)
            gate->set();
        held_.clear();
    }

    std::int64_t reset = 4'000'000'000;
    bool is_broken = false;
    bool is_used_up = false; // every account's day
    bool is_undecided = false;
    // So many units are granted, the rest is undecided: a block ran out while the database is away.
    std::optional<std::int64_t> block_left;
    bool is_storing_nothing = false;      // its database is away
    std::set<std::string> stored_reports; // stored; the next response says so
    std::map<std::string, std::int64_t> used;
    std::vector<ratelimit::v1::TakeQuotaRequest> calls;

private:
    fake_rate_limit(std::shared_ptr<in_process_services> reached, std::uint16_t port)
        : network(std::move(reached)),
          address("127.0.0.1", port)
    {
        network->add(
            rate_limit_methods::take_quota,
            [this](ratelimit::v1::TakeQuotaRequest request) { return respond(std::move(request)); },
            address);
    }

    awaitable<result<ratelimit::v1::TakeQuotaResponse>>
    respond(ratelimit::v1::TakeQuotaRequest request)
    {
        calls.push_back(request);
        if (is_held_) {
            const auto gate = std::make_shared<async::reset_event>(test_host().executor());
            held_.push_back(gate);
            co_await gate->wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(10));
        }
        if (is_broken)
            co_return failure{errc::unavailable, "broken"};
        ratelimit::v1::TakeQuotaResponse response;
        for (const auto& item : request.items())
            grant(item, *response.add_results());
        co_return response;
    }

    void grant(const ratelimit::v1::QuotaItem& item, ratelimit::v1::QuotaResult& outcome)
    {
        auto& count = used[item.account_id()];
        if (is_used_up)
            count = std::max(count, item.limit());
        if (item.has_debt() && !is_storing_nothing) {
            outcome.set_is_debt_stored(stored_reports.contains(item.debt().debt_id()));
            count += stored_reports.insert(item.debt().debt_id()).second ? item.debt().units() : 0;
        }
        if (is_undecided) {
            outcome.set_undecided(item.units());
            return;
        }
        if (block_left) {
            const auto spent = std::min(*block_left, item.units());
            *block_left -= spent;
            count += spent;
            outcome.set_granted(spent);
            outcome.set_undecided(item.units() - spent);
            return;
        }
        const auto granted = std::clamp<std::int64_t>(item.limit() - count, 0, item.units());
        count += granted;
        outcome.set_granted(granted);
        outcome.set_limit(item.limit());
        outcome.set_remaining(std::max<std::int64_t>(0, item.limit() - count));
        outcome.set_reset(reset);
    }

    bool is_held_ = false;
    std::vector<std::shared_ptr<async::reset_event>> held_;
};

// A client whose coroutines have ended before it goes.
class running_quota_client
{
public:
    running_quota_client(fake_rate_limit& service, const std::vector<host_port>& replicas)
        : service_(service),
          client_(test_host(), replicas, service.network->tokens(),
                  service.network->client_settings())
    {}
    explicit running_quota_client(fake_rate_limit& service)
        : running_quota_client(service, {service.address})
    {}

    ~running_quota_client()
    {
        client_.stop();
        service_.release();
        eventually([] { return test_host().loop().poll() == 0; });
    }

    gateway::quota_client* operator->() { return &client_; }
    gateway::quota_client& operator*() { return client_; }

private:
    fake_rate_limit& service_;
    gateway::quota_client client_;
};

} // namespace tempinbox::testing
