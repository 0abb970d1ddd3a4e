#include "gateway/quota/quota_client.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <map>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto settlement_interval = 1s;
// How long after the last request that was let through the gauge still says so.
constexpr auto shown_for = 5s;
constexpr std::size_t most_debtors = 10'000;
constexpr auto between_looks = 20ms;
// A plan without a daily limit counts like the others, against a number nobody reaches.
constexpr std::int64_t unlimited = 1'000'000'000'000;

std::int64_t limit_of(const plans::account_state& account, time_point now)
{
    const auto limit = account.limits_at(now).requests_per_day;
    return limit > 0 ? limit : unlimited;
}

} // namespace

// FNV-1a over the name and the account, then the finalizer of SplitMix64, so that near names
// spread.
std::uint64_t rendezvous_score(account_id account, std::string_view replica)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
    for (const char c : replica)
        add(static_cast<std::uint8_t>(c));
    for (const auto byte : account.value().bytes())
        add(byte);
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

quota_client::quota_client(runtime::host& host, std::vector<quota_replica> replicas)
    : host_(host),
      next_settlement_(host.loop()),
      let_through_(
          host.metrics().counter("tempinbox_gateway_quota_let_through_total",
                                 "Requests let through because rate-limit did not answer in time")),
      is_letting_through_(
          host.metrics().gauge("tempinbox_gateway_quota_letting_through",
                               "1 while requests are let through uncounted, and 5 s after")),
      owed_(host.metrics().gauge("tempinbox_gateway_quota_owed_requests",
                                 "Requests let through and not yet counted"))
{
    set_replicas(std::move(replicas));
}

void quota_client::set_replicas(std::vector<quota_replica> replicas)
{
    std::vector<std::shared_ptr<quota_lane>> lanes;
    for (auto& replica : replicas) {
        const auto known = std::find_if(lanes_.begin(), lanes_.end(), [&replica](const auto& lane) {
            return lane->name() == replica.name;
        });
        if (known != lanes_.end())
            lanes.push_back(*known);
        else
            lanes.push_back(std::make_shared<quota_lane>(
                host_, std::move(replica), book_, patience,
                [this](const auto& ticket) { return ask_elsewhere(ticket); }));
    }
    if (!lanes.empty())
        lanes_ = std::move(lanes);
}

void quota_client::start()
{
    boost::asio::co_spawn(host_.loop(), settle_debts(), boost::asio::detached);
}

void quota_client::stop()
{
    is_stopped_ = true;
    next_settlement_.cancel();
}

awaitable<quota_decision> quota_client::take(const plans::account_state& account)
{
    const auto now = host_.clock().now();
    const auto limit = limit_of(account, now);
    auto ticket = std::make_shared<quota_ticket>(host_.executor(), account.account, limit,
                                                 account.version, now);
    lane_of(account.account).ask(ticket);
    return wait_for(std::move(ticket));
}

awaitable<quota_decision> quota_client::wait_for(std::shared_ptr<quota_ticket> ticket)
{
    co_await ticket->done.wait_until(steady::now() + patience);
    if (ticket->numbers)
        co_return quota_decision(ticket->is_granted, false, *ticket->numbers);
    ticket->is_let_through = true;
    co_return let_through(*ticket);
}

// A ticket that a call still carries is settled by that call's end; one that was granted without
// numbers is counted already.
quota_decision quota_client::let_through(const quota_ticket& ticket)
{
    const auto now = host_.clock().now();
    if (!ticket.is_sent)
        book_.owe(ticket.account, ticket.limit, ticket.limit_version, 1, ticket.asked_at);
    let_through_.Increment();
    let_through_at_ = steady::now();
    is_letting_through_.Set(1);
    log::warning("request let through: rate-limit did not answer in time",
                 {{"account_id", ticket.account.text()}});
    return quota_decision(true, true, book_.let_through(ticket.account, ticket.limit, now));
}

quota_lane& quota_client::lane_of(account_id account)
{
    if (lanes_.size() == 1)
        return *lanes_.front();
    const auto rank = [account](const auto& lane) {
        return std::pair(!lane->is_doubtful(), rendezvous_score(account, lane->name()));
    };
    const auto best =
        std::max_element(lanes_.begin(), lanes_.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return **best;
}

// The one that failed is doubtful by now, so that another comes first; with none in good state
// nobody is asked.
bool quota_client::ask_elsewhere(const std::shared_ptr<quota_ticket>& ticket)
{
    if (ticket->was_asked_again || is_stopped_)
        return false;
    auto& lane = lane_of(ticket->account);
    if (lane.is_doubtful())
        return false;
    ticket->was_asked_again = true;
    lane.ask(ticket);
    return true;
}

quota_numbers quota_client::last_known(const plans::account_state& account)
{
    const auto now = host_.clock().now();
    return book_.last_known(account.account, limit_of(account, now), now);
}

awaitable<void> quota_client::settle_debts()
{
    while (!is_stopped_) {
        next_settlement_.expires_after(settlement_interval);
        co_await next_settlement_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        if (!is_stopped_ && book_.has_debts())
            tell_debts();
        show_state();
    }
}

void quota_client::tell_debts()
{
    std::map<quota_lane*, std::vector<quota_book::debtor>> by_lane;
    for (const auto& debtor : book_.debtors(most_debtors)) {
        auto& lane = lane_of(debtor.account);
        if (!lane.is_doubtful() || lanes_.size() == 1)
            by_lane[&lane].push_back(debtor);
    }
    for (auto& [lane, debtors] : by_lane)
        lane->settle(std::move(debtors));
}

awaitable<void> quota_client::settle_up(std::chrono::milliseconds deadline)
{
    const auto end = steady::now() + deadline;
    boost::asio::steady_timer pause(host_.loop());
    const auto is_busy = [](const auto& lane) { return !lane->is_idle(); };
    for (;;) {
        const bool is_telling = std::any_of(lanes_.begin(), lanes_.end(), is_busy);
        if ((!book_.has_debts() && !is_telling) || steady::now() >= end)
            break;
        if (!is_telling)
            tell_debts();
        pause.expires_after(between_looks);
        co_await pause.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
}

void quota_client::show_state()
{
    is_letting_through_.Set(steady::now() - let_through_at_ < shown_for ? 1 : 0);
    owed_.Set(static_cast<double>(book_.owed()));
}

} // namespace tempinbox::gateway
