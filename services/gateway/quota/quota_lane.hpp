#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/runtime/host.hpp"
#include "gateway/completion.hpp"
#include "gateway/quota/quota_book.hpp"

#include "tempinbox/ratelimit/v1/rate_limit_service.pb.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tempinbox::gateway {

// One call to a replica of rate-limit.
using quota_transport = std::function<awaitable<result<ratelimit::v1::TakeQuotaResponse>>(ratelimit::v1::TakeQuotaRequest)>;

struct quota_replica
{
    std::string name; // host:port
    quota_transport take;

    quota_replica(std::string address, quota_transport transport) : name(std::move(address)), take(std::move(transport)) {}
};

// One request's unit, from the question to the answer; shared by the request that waits and the call that carries it.
struct quota_ticket
{
    account_id account;
    std::int64_t limit;
    std::int64_t limit_version;
    completion done;
    bool is_sent = false;
    bool is_let_through = false; // nobody waits any more
    bool is_granted = false;
    std::optional<quota_numbers> numbers; // absent where the call failed

    quota_ticket(const boost::asio::any_io_executor& executor, account_id who, std::int64_t most, std::int64_t version)
        : account(who),
          limit(most),
          limit_version(version),
          done(executor)
    {}
};

// The way to one replica: one call under way, the tickets that come meanwhile gather for the next. A call that is not answered in
// `patience` no longer holds up the next one, but its answer still counts: what it granted to requests that were let through is
// not owed again.
class quota_lane
{
public:
    quota_lane(runtime::host& host, quota_replica replica, quota_book& book, std::chrono::milliseconds patience);
    quota_lane(const quota_lane&) = delete;

    void ask(std::shared_ptr<quota_ticket> ticket);
    // Tells the replica what is owed, where no request does it on its way.
    void settle();
    const std::string& name() const { return replica_.name; }
    // Whether it failed or was late in the last second.
    bool is_doubtful() const { return std::chrono::steady_clock::now() < doubtful_until_; }

private:
    struct call;
    using tickets = std::vector<std::shared_ptr<quota_ticket>>;

    void start();
    awaitable<void> send_what_gathers();
    std::shared_ptr<call> next_call();
    awaitable<void> run(std::shared_ptr<call> sent);
    void take_answer(call& answered, const ratelimit::v1::TakeQuotaResponse& response);
    void take_failure(call& failed);
    void doubt();

    runtime::host& host_;
    quota_replica replica_;
    quota_book& book_;
    std::chrono::milliseconds patience_;
    std::deque<std::shared_ptr<quota_ticket>> gathering_;
    bool is_sending_ = false;
    bool must_settle_ = false;
    std::size_t late_calls_ = 0;
    std::chrono::steady_clock::time_point doubtful_until_{};
    prometheus::Counter& calls_;
    prometheus::Counter& failed_calls_;
};

} // namespace tempinbox::gateway
