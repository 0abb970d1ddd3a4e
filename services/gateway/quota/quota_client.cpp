#include "gateway/quota/quota_client.hpp"

#include "common/log/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <map>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto report_interval = 1s;
// How long the gauge stays 1 after the last request that failed open.
constexpr auto shown_for = 5s;
constexpr std::size_t max_reported_accounts = 10'000;
constexpr auto poll_interval = 20ms;

std::int64_t limit_of(const plans::account_state& account, time_point now)
{
    const auto limit = account.limits_at(now).requests_per_day;
    return limit > 0 ? limit : plans::unlimited_requests_per_day;
}

} // namespace

// FNV-1a over the name and the account, then the finalizer of SplitMix64, so that similar names
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

quota_client::quota_client(runtime::host& host, const std::vector<host_port>& replicas,
                           rpc::tokens& tokens, rpc::client_settings chosen)
    : host_(host),
      tokens_(tokens),
      rpc_settings_(std::move(chosen)),
      report_timer_(host.loop()),
      fail_opens_(host.metrics().counter(
          "tempinbox_gateway_quota_fail_open_total",
          "Requests passed by failing open because rate-limit did not respond in time")),
      is_failing_open_(host.metrics().gauge(
          "tempinbox_gateway_quota_fail_open",
          "Whether the gateway fails open (requests pass uncounted), or did 5 s ago: 1 or 0")),
      unreported_gauge_(host.metrics().gauge(
          "tempinbox_gateway_quota_unreported_requests",
          "Requests passed by failing open and not yet counted (unreported usage)"))
{
    set_replicas({replicas.begin(), replicas.end()});
}

void quota_client::set_replicas(const std::vector<rpc::replica>& replicas)
{
    std::vector<std::shared_ptr<quota_batcher>> batchers;
    for (const auto& replica : replicas) {
        const auto existing =
            std::find_if(batchers_.begin(), batchers_.end(), [&replica](const auto& batcher) {
                return batcher->name() == replica.at.text();
            });
        if (existing != batchers_.end())
            batchers.push_back(*existing);
        else
            batchers.push_back(std::make_shared<quota_batcher>(
                host_, replica, tokens_, rpc_settings_, cache_, timeout,
                [this](const auto& ticket) { return failover(ticket); }));
    }
    if (!batchers.empty())
        batchers_ = std::move(batchers);
}

void quota_client::start()
{
    boost::asio::co_spawn(host_.loop(), report_periodically(), boost::asio::detached);
}

void quota_client::stop()
{
    is_stopped_ = true;
    report_timer_.cancel();
}

awaitable<quota_decision> quota_client::take(const plans::account_state& account)
{
    const auto now = host_.clock().now();
    const auto limit = limit_of(account, now);
    auto ticket = std::make_shared<quota_ticket>(host_.executor(), account.account, limit,
                                                 account.version, now);
    batcher_of(account.account).submit(ticket);
    return wait_for(std::move(ticket));
}

awaitable<quota_decision> quota_client::wait_for(std::shared_ptr<quota_ticket> ticket)
{
    co_await ticket->done.wait_until(steady::now() + timeout);
    if (ticket->rate_limit)
        co_return quota_decision(ticket->is_granted, false, *ticket->rate_limit);
    ticket->is_fail_open = true;
    co_return fail_open(*ticket);
}

// If a call still carries the ticket, the call's end accounts for it. A ticket that was granted
// without numbers is counted already.
quota_decision quota_client::fail_open(const quota_ticket& ticket)
{
    const auto now = host_.clock().now();
    if (!ticket.is_sent)
        cache_.add_unreported(ticket.account, ticket.limit, ticket.limit_version, 1,
                              ticket.requested_at);
    fail_opens_.Increment();
    last_fail_open_ = steady::now();
    is_failing_open_.Set(1);
    log::warning("failed open: request passed because rate-limit did not respond in time",
                 {{"account_id", ticket.account.text()}});
    return quota_decision(true, true, cache_.fail_open(ticket.account, ticket.limit, now));
}

quota_batcher& quota_client::batcher_of(account_id account)
{
    if (batchers_.size() == 1)
        return *batchers_.front();
    const auto rank = [account](const auto& batcher) {
        return std::pair(!batcher->is_doubtful(), rendezvous_score(account, batcher->name()));
    };
    const auto best =
        std::max_element(batchers_.begin(), batchers_.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return **best;
}

// The replica that failed is doubtful by now, so another ranks first; if all are doubtful, none is
// called.
bool quota_client::failover(const std::shared_ptr<quota_ticket>& ticket)
{
    if (ticket->was_retried || is_stopped_)
        return false;
    auto& batcher = batcher_of(ticket->account);
    if (batcher.is_doubtful())
        return false;
    ticket->was_retried = true;
    batcher.submit(ticket);
    return true;
}

rate_limit_headers quota_client::last_known(const plans::account_state& account)
{
    const auto now = host_.clock().now();
    return cache_.last_known(account.account, limit_of(account, now), now);
}

awaitable<void> quota_client::report_periodically()
{
    while (!is_stopped_) {
        report_timer_.expires_after(report_interval);
        co_await report_timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        if (!is_stopped_ && cache_.has_unreported())
            report_usage();
        show_state();
    }
}

void quota_client::report_usage()
{
    std::map<quota_batcher*, std::vector<quota_cache::unreported_account>> by_batcher;
    for (const auto& unreported_account : cache_.unreported_accounts(max_reported_accounts)) {
        auto& batcher = batcher_of(unreported_account.account);
        if (!batcher.is_doubtful() || batchers_.size() == 1)
            by_batcher[&batcher].push_back(unreported_account);
    }
    for (auto& [batcher, unreported_accounts] : by_batcher)
        batcher->report(std::move(unreported_accounts));
}

awaitable<void> quota_client::flush(std::chrono::milliseconds deadline)
{
    const auto end = steady::now() + deadline;
    boost::asio::steady_timer poll_timer(host_.loop());
    const auto is_busy = [](const auto& batcher) { return !batcher->is_idle(); };
    for (;;) {
        const bool is_telling = std::any_of(batchers_.begin(), batchers_.end(), is_busy);
        if ((!cache_.has_unreported() && !is_telling) || steady::now() >= end)
            break;
        if (!is_telling)
            report_usage();
        poll_timer.expires_after(poll_interval);
        co_await poll_timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
}

void quota_client::show_state()
{
    is_failing_open_.Set(steady::now() - last_fail_open_ < shown_for ? 1 : 0);
    unreported_gauge_.Set(static_cast<double>(cache_.unreported()));
}

} // namespace tempinbox::gateway
