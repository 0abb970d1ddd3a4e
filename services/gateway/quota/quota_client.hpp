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

// Takes one unit of an account's day from rate-limit. Accounts map to replicas by rendezvous
// hashing. A replica that just failed is passed over, and replicas may come and go. Without a
// response within 250 ms it fails open: the request is let through (metric, log) and kept as
// unreported usage until rate-limit has stored it. A 429 is never guessed.
class quota_client
{
public:
    static constexpr std::chrono::milliseconds timeout{250};

    // Each replica has its own RPC client, because accounts belong to replicas.
    quota_client(runtime::host& host, const std::vector<host_port>& replicas, rpc::tokens& tokens,
                 rpc::client_settings chosen = {});
    quota_client(const quota_client&) = delete;

    // Starts reporting usage that no later request carries.
    void start();
    void stop();
    // Reports unreported usage until it is stored or the deadline passes. What is then left is lost
    // with the process.
    awaitable<void> flush(std::chrono::milliseconds deadline);

    // Replaces the replicas. Those that stay keep their calls; those that go finish their tickets.
    void set_replicas(const std::vector<rpc::replica>& replicas);

    awaitable<quota_decision> take(const plans::account_state& account);
    // The last known numbers of the account's day; counts nothing.
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
    rpc::tokens& tokens_;
    rpc::client_settings rpc_settings_;
    quota_cache cache_;
    std::vector<std::shared_ptr<quota_batcher>> batchers_;
    boost::asio::steady_timer report_timer_;
    bool is_stopped_ = false;
    std::chrono::steady_clock::time_point last_fail_open_{};
    prometheus::Counter& fail_opens_;
    prometheus::Gauge& is_failing_open_;
    prometheus::Gauge& unreported_gauge_;
};

// An account belongs to the replica with the highest score, which is the same on every gateway
// whatever the order of its list.
std::uint64_t rendezvous_score(account_id account, std::string_view replica);

} // namespace tempinbox::gateway
