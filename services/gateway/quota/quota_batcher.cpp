#include "gateway/quota/quota_batcher.hpp"

#include "common/log/log.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/timestamp.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::size_t max_late_calls = 8;
constexpr std::size_t max_accounts_per_call = 1'000;
constexpr auto doubtful_for = 1s;
// Longer than the timeout of the waiting requests, because a late response still counts.
constexpr auto call_deadline = 5s;

// A replica is dialled by its address; its certificate is for the name that led there.
rpc::client_settings named(rpc::client_settings chosen, const rpc::replica& replica)
{
    chosen.tls_name = replica.name;
    return chosen;
}

} // namespace

// A call with its tickets and usage reports, in the order of its items.
struct quota_batcher::call
{
    // The tickets and the report of one account.
    struct item
    {
        account_id account;
        std::int64_t limit = 0;
        std::int64_t limit_version = 0;
        std::optional<quota_cache::usage_report> unreported;
        tickets pending;
    };

    std::vector<item> items;
    std::map<account_id, std::size_t> index;
    async::reset_event done;
    bool is_late = false;

    explicit call(const boost::asio::any_io_executor& executor) : done(executor) {}

    item& item_of(account_id account, std::int64_t limit, std::int64_t version)
    {
        const auto [entry, is_new] = index.try_emplace(account, items.size());
        if (is_new)
            items.emplace_back(account, limit, version);
        auto& found = items[entry->second];
        if (version > found.limit_version) {
            found.limit = limit;
            found.limit_version = version;
        }
        return found;
    }

    ratelimit::v1::TakeQuotaRequest request() const
    {
        ratelimit::v1::TakeQuotaRequest message;
        for (const auto& part : items) {
            auto& line = *message.add_items();
            line.set_account_id(part.account.text());
            line.set_units(static_cast<std::int64_t>(part.pending.size()));
            line.set_limit(part.limit);
            line.set_limit_version(part.limit_version);
            if (!part.unreported)
                continue;
            line.mutable_debt()->set_debt_id(part.unreported->id.text());
            line.mutable_debt()->set_units(part.unreported->units);
            *line.mutable_debt()->mutable_day() = rpc::to_timestamp(part.unreported->on_day);
        }
        return message;
    }
};

quota_batcher::quota_batcher(runtime::host& host, const rpc::replica& replica, rpc::tokens& tokens,
                             rpc::client_settings chosen, quota_cache& cache,
                             std::chrono::milliseconds timeout, failover try_other)
    : host_(host),
      name_(replica.at.text()),
      replica_(host, {replica.at}, tokens, named(std::move(chosen), replica)),
      cache_(cache),
      timeout_(timeout),
      failover_(std::move(try_other)),
      calls_(host.metrics().counter("tempinbox_gateway_quota_calls_total", "Calls to rate-limit")),
      failed_calls_(host.metrics().counter("tempinbox_gateway_quota_calls_failed_total",
                                           "Calls to rate-limit that failed or were late"))
{}

void quota_batcher::submit(std::shared_ptr<quota_ticket> ticket)
{
    while (!pending_.empty() && pending_.front()->is_fail_open)
        pending_.pop_front();
    pending_.push_back(std::move(ticket));
    start();
}

void quota_batcher::report(std::vector<quota_cache::unreported_account> unreported_accounts)
{
    to_report_ = std::move(unreported_accounts);
    start();
}

void quota_batcher::start()
{
    if (is_sending_ || late_calls_ >= max_late_calls)
        return;
    is_sending_ = true;
    boost::asio::co_spawn(host_.loop(), send_batches(shared_from_this()), boost::asio::detached);
}

awaitable<void> quota_batcher::send_batches(std::shared_ptr<quota_batcher> self)
{
    while (self->late_calls_ < max_late_calls) {
        // Lets requests that are being read at this moment join the call.
        co_await boost::asio::post(boost::asio::use_awaitable);
        const auto sent = self->next_call();
        if (sent->items.empty())
            break;
        self->calls_.Increment();
        boost::asio::co_spawn(self->host_.loop(), run(self, sent), boost::asio::detached);
        if (!co_await sent->done.wait_until(steady::now() + self->timeout_)) {
            sent->is_late = true;
            ++self->late_calls_;
            self->doubt();
        }
    }
    self->is_sending_ = false;
}

std::shared_ptr<quota_batcher::call> quota_batcher::next_call()
{
    auto next = std::make_shared<call>(host_.executor());
    while (!pending_.empty() && next->items.size() < max_accounts_per_call) {
        auto ticket = std::move(pending_.front());
        pending_.pop_front();
        if (ticket->is_fail_open)
            continue;
        ticket->is_sent = true;
        next->item_of(ticket->account, ticket->limit, ticket->limit_version)
            .pending.push_back(std::move(ticket));
    }
    while (!to_report_.empty() && next->items.size() < max_accounts_per_call) {
        const auto& unreported_account = to_report_.back();
        next->item_of(unreported_account.account, unreported_account.limit,
                      unreported_account.limit_version);
        to_report_.pop_back();
    }
    const auto now = host_.clock().now();
    for (auto& part : next->items)
        part.unreported = cache_.next_report(part.account, now);
    return next;
}

awaitable<void> quota_batcher::run(std::shared_ptr<quota_batcher> self, std::shared_ptr<call> sent)
{
    result<ratelimit::v1::TakeQuotaResponse> outcome = failure{errc::unavailable, "no response"};
    try {
        outcome = co_await self->replica_.call(rate_limit_methods::take_quota, sent->request(),
                                               call_deadline);
    } catch (const std::exception& error) {
        // Nobody awaits this coroutine: its tickets must come to an end whatever is thrown.
        outcome = failure{errc::unavailable, error.what()};
    }
    if (outcome && outcome->results_size() == static_cast<int>(sent->items.size())) {
        self->take_response(*sent, *outcome);
    } else {
        const auto reason = outcome ? std::string("a response with the wrong number of results")
                                    : outcome.error().message;
        log::warning("rate-limit did not respond", {{"replica", self->name_}, {"error", reason}});
        self->take_failure(*sent);
    }
    sent->done.set();
    if (sent->is_late) {
        --self->late_calls_;
        self->start();
    }
}

// Grants go to the tickets in the order they came; each sees what was left after its own unit.
// Tickets that rate-limit could not decide fail open in their own requests.
void quota_batcher::take_response(call& answered, const ratelimit::v1::TakeQuotaResponse& response)
{
    for (std::size_t i = 0; i < answered.items.size(); ++i) {
        auto& part = answered.items[i];
        const auto& result = response.results(static_cast<int>(i));
        if (part.unreported && result.is_debt_stored())
            cache_.note_stored(part.account, part.unreported->id);
        rate_limit_headers last(result.limit(), result.remaining(), result.reset());
        if (result.reset() > 0)
            last = cache_.learn(part.account, last);
        // The first tickets are granted, the next are undecided, the rest are refused.
        std::int64_t left = result.granted();
        std::int64_t unjudged = result.undecided();
        for (const auto& ticket : part.pending) {
            ticket->is_granted = left > 0;
            left -= ticket->is_granted ? 1 : 0;
            if (ticket->is_fail_open && !ticket->is_granted)
                cache_.add_unreported(part.account, part.limit, part.limit_version, 1,
                                      ticket->requested_at);
            const bool is_unjudged = !ticket->is_granted && unjudged > 0;
            unjudged -= is_unjudged ? 1 : 0;
            // A granted unit is counted, even if the remaining number is not known.
            if (is_unjudged || result.reset() == 0)
                ticket->is_sent = ticket->is_granted;
            else
                ticket->rate_limit = rate_limit_headers(
                    last.limit, last.remaining + std::max<std::int64_t>(left, 0), last.reset);
            ticket->done.set();
        }
    }
}

// A ticket that still waits goes to another replica, once; without one its request fails open.
// Tickets that failed open meanwhile become unreported usage, and the reports in the call stay
// unreported. If the call timed out but was counted, its units count twice, which only lowers what
// remains.
void quota_batcher::take_failure(call& failed)
{
    failed_calls_.Increment();
    doubt();
    for (auto& part : failed.items) {
        for (const auto& ticket : part.pending) {
            if (ticket->is_fail_open)
                cache_.add_unreported(part.account, part.limit, part.limit_version, 1,
                                      ticket->requested_at);
            ticket->is_sent = false;
            if (!ticket->is_fail_open && failover_(ticket))
                continue;
            ticket->done.set();
        }
    }
}

void quota_batcher::doubt()
{
    doubtful_until_ = steady::now() + doubtful_for;
}

} // namespace tempinbox::gateway
