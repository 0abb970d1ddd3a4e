#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/quota/quota_batcher.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <vector>

namespace tempinbox::gateway {

struct quota_decision
{
    bool is_granted = true;
    bool is_fail_open = false;
    rate_limit_headers rate_limit;
};

// Asks rate-limit for one unit of an account's day. Accounts map to replicas by rendezvous hashing;
// a replica that just failed is passed over, and replicas may come and go. Without an answer within
// 250 ms the request is let through (metric, log) and owed until rate-limit says that it is stored;
// a 429 is never guessed.
class quota_client
{
public:
    static constexpr std::chrono::milliseconds timeout{250};

    quota_client(runtime::host& host, std::vector<quota_replica> replicas);
    quota_client(const quota_client&) = delete;

    // Spawns the settling of debts that no later request carries.
    void start();
    void stop();
    // Tells what is owed until it is stored, for that long at most; the end of the process forgets
    // the rest.
    awaitable<void> flush(std::chrono::milliseconds deadline);

    // The replicas from now on. Those that stay keep their calls, those that go finish what they
    // hold.
    void set_replicas(std::vector<quota_replica> replicas);

    awaitable<quota_decision> take(const plans::account_state& account);
    // The numbers of the account's day as last known; nothing is counted.
    rate_limit_headers last_known(const plans::account_state& account);

private:
    awaitable<quota_decision> wait_for(std::shared_ptr<quota_ticket> ticket);
    quota_batcher& batcher_of(account_id account);
    bool failover(const std::shared_ptr<quota_ticket>& ticket);
    quota_decision fail_open(const quota_ticket& ticket);
    awaitable<void> report_periodically();
    void report_usage();
    void show_state();

    runtime::host& host_;
    quota_cache cache_;
    std::vector<std::shared_ptr<quota_batcher>> batchers_;
    boost::asio::steady_timer report_timer_;
    bool is_stopped_ = false;
    std::chrono::steady_clock::time_point last_fail_open_{};
    prometheus::Counter& fail_opens_;
    prometheus::Gauge& is_failing_open_;
    prometheus::Gauge& unreported_gauge_;
};

// An account belongs to the replica with the highest score: the same on every gateway, whatever the
// order of its list.
std::uint64_t rendezvous_score(account_id account, std::string_view replica);

} // namespace tempinbox::gateway
