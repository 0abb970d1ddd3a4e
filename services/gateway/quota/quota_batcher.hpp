#pragma once

#include "common/async/reset_event.hpp"
#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/rpc/client.hpp"
#include "common/runtime/host.hpp"
#include "gateway/quota/quota_cache.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tempinbox::gateway {

// One request's unit, from its submission to its result; shared by the waiting request and the call
// that carries it.
struct quota_ticket
{
    account_id account;
    std::int64_t limit;
    std::int64_t limit_version;
    time_point requested_at; // the unit counts for this day
    async::reset_event done;
    bool is_sent = false;      // a call carries it, and accounts for it at its end
    bool is_fail_open = false; // its request was let through and waits no more
    bool was_retried = false;
    bool is_granted = false;
    std::optional<rate_limit_headers> rate_limit; // absent if rate-limit could not decide

    quota_ticket(const boost::asio::any_io_executor& executor, account_id who,
                 std::int64_t max_units, std::int64_t version, time_point now)
        : account(who),
          limit(max_units),
          limit_version(version),
          requested_at(now),
          done(executor)
    {}
};

// Submits the ticket of a call that failed at once to another replica, once; false if there is
// none. A function, so that a batcher knows nothing of the client that owns it and the others.
using failover = std::function<bool(const std::shared_ptr<quota_ticket>&)>;

// Batches the tickets for one replica: one call is in flight, and tickets that come meanwhile go
// into the next. A call that exceeds `timeout` no longer holds up the next one, but its response
// still counts: a unit that it granted to a request that failed open is not kept as unreported
// usage too. So its calls outlive their waiters and change what others keep, and a ticket can move
// to another replica: async::batcher, whose late results are dropped, does not fit. Owned by the
// client and by its own calls, so it outlives the removal of its replica.
class quota_batcher : public std::enable_shared_from_this<quota_batcher>
{
public:
    quota_batcher(runtime::host& host, const rpc::replica& replica, rpc::tokens& tokens,
                  rpc::client_settings chosen, quota_cache& cache,
                  std::chrono::milliseconds timeout, failover try_other);
    quota_batcher(const quota_batcher&) = delete;

    void submit(std::shared_ptr<quota_ticket> ticket);
    // Reports the usage of these accounts to the replica if no ticket carries it.
    void report(std::vector<quota_cache::unreported_account> unreported_accounts);
    bool is_idle() const
    {
        return !is_sending_ && late_calls_ == 0 && pending_.empty() && to_report_.empty();
    }
    const std::string& name() const { return name_; }
    // Whether a call failed or was late in the last second.
    bool is_doubtful() const { return std::chrono::steady_clock::now() < doubtful_until_; }

private:
    struct call;
    using tickets = std::vector<std::shared_ptr<quota_ticket>>;

    void start();
    static awaitable<void> send_batches(std::shared_ptr<quota_batcher> self);
    std::shared_ptr<call> next_call();
    static awaitable<void> run(std::shared_ptr<quota_batcher> self, std::shared_ptr<call> sent);
    void take_response(call& answered, const ratelimit::v1::TakeQuotaResponse& response);
    void take_failure(call& failed);
    void doubt();

    runtime::host& host_;
    std::string name_; // host:port
    rpc::client replica_;
    quota_cache& cache_;
    std::chrono::milliseconds timeout_;
    failover failover_;
    std::deque<std::shared_ptr<quota_ticket>> pending_;
    bool is_sending_ = false;
    std::vector<quota_cache::unreported_account> to_report_;
    std::size_t late_calls_ = 0;
    std::chrono::steady_clock::time_point doubtful_until_{};
    prometheus::Counter& calls_;
    prometheus::Counter& failed_calls_;
};

} // namespace tempinbox::gateway
