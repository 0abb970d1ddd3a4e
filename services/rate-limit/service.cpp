#include "rate-limit/service.hpp"

#include "common/log/log.hpp"

#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;

constexpr int schema_version = 5;

settle_statement statement_of(quota_store& quotas)
{
    return [&quotas](std::vector<block_request> requests) {
        return quotas.settle(std::move(requests));
    };
}

lease_book::recall recall_of(recall_client& others)
{
    return [&others](std::string holder, account_id account, day on_day) {
        return others.ask_back(std::move(holder), account, on_day);
    };
}

// Behind a wildcard the address that this host's own name has: in a container the one that others
// reach it by.
std::string reachable_address(runtime::host& host, const host_port& bound)
{
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(bound.host, error);
    if (error || !address.is_unspecified())
        return bound.text();
    boost::asio::ip::tcp::resolver resolver(host.loop());
    const auto found = resolver.resolve(boost::asio::ip::host_name(error), "", error);
    if (error || found.empty()) {
        log::warning("other replicas cannot ask this one for its blocks: set rpc-advertise",
                     {{"error", error.message()}});
        return host_port("127.0.0.1", bound.port).text();
    }
    return host_port(found.begin()->endpoint().address().to_string(), bound.port).text();
}

} // namespace

service::service(runtime::host& host, settings chosen)
    : host_(host),
      settings_(std::move(chosen)),
      admin_(host),
      tokens_(settings_.rpc_token_file),
      db_(host, settings_.database),
      quotas_(db_, settings_.rpc_advertise, settings_.leases.lease_time),
      others_(host, tokens_),
      leases_(host, host.clock(), statement_of(quotas_), recall_of(others_), settings_.leases),
      debts_(
          host, [this](std::vector<debt> debts) { return quotas_.store_debts(std::move(debts)); },
          [this](account_id account) { leases_.refresh(account); }),
      rpc_(host, leases_, debts_, quotas_, host.clock()),
      forgetting_(host, "old days not forgotten", [this] { return forget_old_days(); }),
      writing_off_(host, "lost blocks not written off", [this] { return write_off_lost_blocks(); }),
      tidying_(host, "blocks not tidied", [this] { return tidy(); }),
      server_(host, settings_.rpc, tokens_),
      units_lost_(host.metrics().counter("tempinbox_rate_limit_written_off_units_total",
                                         "Units of blocks whose lease ended, counted as used"))
{
    db_.require_schema("quota", schema_version);
    rpc_.add_to(server_);
}

void service::start()
{
    admin_.start();
    server_.start();
    const auto own = settings_.rpc_advertise.empty()
                         ? reachable_address(host_, server_.local_address())
                         : settings_.rpc_advertise;
    quotas_.set_holder(own);
    others_.set_own_address(own);
    forgetting_.start();
    writing_off_.start();
    tidying_.start();
}

awaitable<void> service::drain()
{
    const auto patience = host_.settings().drain_timeout;
    co_await server_.drain(patience / 2);
    co_await tidying_.stop();
    co_await leases_.close(patience / 4);
    co_await writing_off_.stop();
    co_await forgetting_.stop();
    db_.stop();
}

awaitable<std::chrono::microseconds> service::forget_old_days()
{
    const day today = day_of(host_.clock().now());
    const auto forgotten =
        co_await quotas_.forget_before(today - std::chrono::days(settings_.days_kept), today);
    if (forgotten > 0)
        co_return 100ms;
    co_return 1h;
}

awaitable<std::chrono::microseconds> service::write_off_lost_blocks()
{
    const auto written = co_await quotas_.write_off();
    units_lost_.Increment(static_cast<double>(written.units));
    if (written.units > 0)
        log::warning("blocks whose lease ended count as used",
                     {{"blocks", written.blocks}, {"units", written.units}});
    if (written.blocks > 0)
        co_return 100ms;
    co_return 1s;
}

awaitable<std::chrono::microseconds> service::tidy()
{
    if (leases_.tidy())
        co_return 20ms;
    co_return 1s;
}

} // namespace tempinbox::rate_limit
