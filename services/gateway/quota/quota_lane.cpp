#include "gateway/quota/quota_lane.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::size_t most_late_calls = 8;
constexpr std::size_t most_accounts_a_call = 1'000;
constexpr auto doubtful_for = 1s;

} // namespace

// A call with the tickets and debts it carries, in the order of its items.
struct quota_lane::call
{
    // What concerns one account.
    struct share
    {
        account_id account;
        std::int64_t limit = 0;
        std::int64_t limit_version = 0;
        std::optional<quota_book::told_debt> debt;
        tickets asked;
    };

    std::vector<share> shares;
    std::map<account_id, std::size_t> index;
    completion done;
    bool is_late = false;

    explicit call(const boost::asio::any_io_executor& executor) : done(executor) {}

    share& share_of(account_id account, std::int64_t limit, std::int64_t version)
    {
        const auto [entry, is_new] = index.try_emplace(account, shares.size());
        if (is_new)
            shares.emplace_back(account, limit, version);
        auto& found = shares[entry->second];
        if (version > found.limit_version) {
            found.limit = limit;
            found.limit_version = version;
        }
        return found;
    }

    ratelimit::v1::TakeQuotaRequest request() const
    {
        ratelimit::v1::TakeQuotaRequest message;
        for (const auto& part : shares) {
            auto& line = *message.add_items();
            line.set_account_id(part.account.text());
            line.set_units(static_cast<std::int64_t>(part.asked.size()));
            line.set_limit(part.limit);
            line.set_limit_version(part.limit_version);
            if (!part.debt)
                continue;
            line.mutable_debt()->set_debt_id(part.debt->id.text());
            line.mutable_debt()->set_units(part.debt->units);
            line.mutable_debt()->mutable_day()->set_seconds(to_unix_seconds(part.debt->on_day));
        }
        return message;
    }
};

quota_lane::quota_lane(runtime::host& host, quota_replica replica, quota_book& book,
                       std::chrono::milliseconds patience, ask_elsewhere elsewhere)
    : host_(host),
      replica_(std::move(replica)),
      book_(book),
      patience_(patience),
      ask_elsewhere_(std::move(elsewhere)),
      calls_(host.metrics().counter("tempinbox_gateway_quota_calls_total", "Calls to rate-limit")),
      failed_calls_(host.metrics().counter("tempinbox_gateway_quota_calls_failed_total",
                                           "Calls to rate-limit that failed or were late"))
{}

void quota_lane::ask(std::shared_ptr<quota_ticket> ticket)
{
    while (!gathering_.empty() && gathering_.front()->is_let_through)
        gathering_.pop_front();
    gathering_.push_back(std::move(ticket));
    start();
}

void quota_lane::settle(std::vector<quota_book::debtor> debtors)
{
    to_settle_ = std::move(debtors);
    start();
}

void quota_lane::start()
{
    if (is_sending_ || late_calls_ >= most_late_calls)
        return;
    is_sending_ = true;
    boost::asio::co_spawn(host_.loop(), send_what_gathers(shared_from_this()),
                          boost::asio::detached);
}

awaitable<void> quota_lane::send_what_gathers(std::shared_ptr<quota_lane> self)
{
    while (self->late_calls_ < most_late_calls) {
        // Requests that are being read at this moment come along.
        co_await boost::asio::post(boost::asio::use_awaitable);
        const auto sent = self->next_call();
        if (sent->shares.empty())
            break;
        self->calls_.Increment();
        boost::asio::co_spawn(self->host_.loop(), run(self, sent), boost::asio::detached);
        if (!co_await sent->done.wait_until(steady::now() + self->patience_)) {
            sent->is_late = true;
            ++self->late_calls_;
            self->doubt();
        }
    }
    self->is_sending_ = false;
}

std::shared_ptr<quota_lane::call> quota_lane::next_call()
{
    auto next = std::make_shared<call>(host_.executor());
    while (!gathering_.empty() && next->shares.size() < most_accounts_a_call) {
        auto ticket = std::move(gathering_.front());
        gathering_.pop_front();
        if (ticket->is_let_through)
            continue;
        ticket->is_sent = true;
        next->share_of(ticket->account, ticket->limit, ticket->limit_version)
            .asked.push_back(std::move(ticket));
    }
    while (!to_settle_.empty() && next->shares.size() < most_accounts_a_call) {
        const auto& debtor = to_settle_.back();
        next->share_of(debtor.account, debtor.limit, debtor.limit_version);
        to_settle_.pop_back();
    }
    const auto now = host_.clock().now();
    for (auto& part : next->shares)
        part.debt = book_.tell_debt(part.account, now);
    return next;
}

awaitable<void> quota_lane::run(std::shared_ptr<quota_lane> self, std::shared_ptr<call> sent)
{
    result<ratelimit::v1::TakeQuotaResponse> outcome = failure{errc::unavailable, "no answer"};
    try {
        outcome = co_await self->replica_.take(sent->request());
    } catch (const std::exception& problem) {
        outcome = failure{errc::unavailable, problem.what()};
    }
    if (outcome && outcome->results_size() == static_cast<int>(sent->shares.size())) {
        self->take_answer(*sent, *outcome);
    } else {
        const auto reason = outcome ? std::string("an answer with the wrong number of results")
                                    : outcome.error().message;
        log::warning("rate-limit did not answer",
                     {{"replica", self->replica_.name}, {"error", reason}});
        self->take_failure(*sent);
    }
    sent->done.set();
    if (sent->is_late) {
        --self->late_calls_;
        self->start();
    }
}

// Grants go to the tickets in the order they came; each sees what was left after its own unit. What
// nobody could judge is let through by whoever waits for it.
void quota_lane::take_answer(call& answered, const ratelimit::v1::TakeQuotaResponse& response)
{
    for (std::size_t i = 0; i < answered.shares.size(); ++i) {
        auto& part = answered.shares[i];
        const auto& answer = response.results(static_cast<int>(i));
        if (part.debt && answer.is_debt_stored())
            book_.note_stored(part.account, part.debt->id);
        quota_numbers last(answer.limit(), answer.remaining(), answer.reset());
        if (answer.reset() > 0)
            last = book_.learn(part.account, last);
        std::int64_t left = answer.granted();
        std::int64_t unjudged = answer.undecided();
        for (const auto& ticket : part.asked) {
            ticket->is_granted = left > 0;
            left -= ticket->is_granted ? 1 : 0;
            if (ticket->is_let_through && !ticket->is_granted)
                book_.owe(part.account, part.limit, part.limit_version, 1, ticket->asked_at);
            const bool is_unjudged = !ticket->is_granted && unjudged > 0;
            unjudged -= is_unjudged ? 1 : 0;
            // A unit that was granted is counted, also where nobody could say what is left.
            if (is_unjudged || answer.reset() == 0)
                ticket->is_sent = ticket->is_granted;
            else
                ticket->numbers = quota_numbers(
                    last.limit, last.remaining + std::max<std::int64_t>(left, 0), last.reset);
            ticket->done.set();
        }
    }
}

// Another replica is asked, once; without one the requests are let through. What was let through
// meanwhile is owed; the debts that were told still are. A call that timed out may have been
// counted: then its units count twice, which only lowers what is left.
void quota_lane::take_failure(call& failed)
{
    failed_calls_.Increment();
    doubt();
    for (auto& part : failed.shares) {
        for (const auto& ticket : part.asked) {
            if (ticket->is_let_through)
                book_.owe(part.account, part.limit, part.limit_version, 1, ticket->asked_at);
            ticket->is_sent = false;
            if (!ticket->is_let_through && ask_elsewhere_(ticket))
                continue;
            ticket->done.set();
        }
    }
}

void quota_lane::doubt()
{
    doubtful_until_ = steady::now() + doubtful_for;
}

} // namespace tempinbox::gateway
