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
using quota_transport = std::function<awaitable<result<ratelimit::v1::TakeQuotaResponse>>(
    ratelimit::v1::TakeQuotaRequest)>;

struct quota_replica
{
    std::string name; // host:port
    quota_transport take;
};

// One request's unit, from the question to the answer; shared by the request that waits and the
// call that carries it.
struct quota_ticket
{
    account_id account;
    std::int64_t limit;
    std::int64_t limit_version;
    time_point asked_at; // whose day it is counted for
    completion done;
    bool is_sent = false;        // a call's end settles it, or has
    bool is_let_through = false; // nobody waits any more
    bool was_asked_again = false;
    bool is_granted = false;
    std::optional<quota_numbers> numbers; // absent where nobody could judge it

    quota_ticket(const boost::asio::any_io_executor& executor, account_id who, std::int64_t most,
                 std::int64_t version, time_point now)
        : account(who),
          limit(most),
          limit_version(version),
          asked_at(now),
          done(executor)
    {}
};

// Where a call failed at once: asks another replica, once; false where there is none.
using ask_elsewhere = std::function<bool(const std::shared_ptr<quota_ticket>&)>;

// The way to one replica: one call under way, the tickets that come meanwhile gather for the next.
// A call that is not answered in `patience` no longer holds up the next one, but its answer still
// counts: what it granted to requests that were let through is not owed again. Owned by the client
// and by its own calls, so that it outlives its replica's leaving.
class quota_lane : public std::enable_shared_from_this<quota_lane>
{
public:
    quota_lane(runtime::host& host, quota_replica replica, quota_book& book,
               std::chrono::milliseconds patience, ask_elsewhere elsewhere);
    quota_lane(const quota_lane&) = delete;

    void ask(std::shared_ptr<quota_ticket> ticket);
    // Tells the replica what these accounts owe, where no request does it on its way.
    void settle(std::vector<quota_book::debtor> debtors);
    bool is_idle() const
    {
        return !is_sending_ && late_calls_ == 0 && gathering_.empty() && to_settle_.empty();
    }
    const std::string& name() const { return replica_.name; }
    // Whether it failed or was late in the last second.
    bool is_doubtful() const { return std::chrono::steady_clock::now() < doubtful_until_; }

private:
    struct call;
    using tickets = std::vector<std::shared_ptr<quota_ticket>>;

    void start();
    static awaitable<void> send_what_gathers(std::shared_ptr<quota_lane> self);
    std::shared_ptr<call> next_call();
    static awaitable<void> run(std::shared_ptr<quota_lane> self, std::shared_ptr<call> sent);
    void take_answer(call& answered, const ratelimit::v1::TakeQuotaResponse& response);
    void take_failure(call& failed);
    void doubt();

    runtime::host& host_;
    quota_replica replica_;
    quota_book& book_;
    std::chrono::milliseconds patience_;
    ask_elsewhere ask_elsewhere_;
    std::deque<std::shared_ptr<quota_ticket>> gathering_;
    bool is_sending_ = false;
    std::vector<quota_book::debtor> to_settle_;
    std::size_t late_calls_ = 0;
    std::chrono::steady_clock::time_point doubtful_until_{};
    prometheus::Counter& calls_;
    prometheus::Counter& failed_calls_;
};

} // namespace tempinbox::gateway
