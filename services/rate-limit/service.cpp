#include "rate-limit/service.hpp"

#include "common/log/log.hpp"

#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tempinbox::rate_limit {
namespace {

using namespace std::chrono_literals;

constexpr int schema_version = 1;

http::server_settings rpc_settings(const settings& chosen, const rpc::tls_contexts& tls)
{
    auto server = chosen.rpc;
    server.tls = tls.server;
    return server;
}

rpc::client_settings peer_settings(const settings& chosen, const rpc::tls_contexts& tls)
{
    rpc::client_settings calls;
    calls.tls = tls.client;
    calls.tls_name = chosen.rpc_tls_name;
    return calls;
}

sync_statement statement_of(quota_repository& quotas)
{
    return [&quotas](std::vector<block_sync_request> requests) {
        return quotas.sync(std::move(requests));
    };
}

block_pool::reclaim_call reclaim_call_of(reclaim_client& others)
{
    return [&others](std::string holder, account_id account, day on_day) {
        return others.reclaim(std::move(holder), account, on_day);
    };
}

// The address at which other replicas reach this one. If it listens on a wildcard address, this is
// what its own host name resolves to; in a container that is the container's address.
std::string reachable_address(runtime::host& host, const host_port& bound)
{
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(bound.host, error);
    if (error || !address.is_unspecified())
        return bound.text();
    boost::asio::ip::tcp::resolver resolver(host.loop());
    const auto found = resolver.resolve(boost::asio::ip::host_name(error), "", error);
    if (error || found.empty()) {
        log::warning("other replicas cannot reclaim the blocks of this one: set rpc-advertise",
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
      traces_(host),
      tokens_(host.files(), "rpc-token-file", settings_.rpc_token_file),
      rpc_tls_(rpc::watch_tls(host, settings_.rpc_tls)),
      db_(host, settings_.database),
      quotas_(db_, settings_.rpc_advertise, settings_.blocks.lease_time),
      others_(host, tokens_, peer_settings(settings_, rpc_tls_)),
      blocks_(host, host.clock(), statement_of(quotas_), reclaim_call_of(others_),
              settings_.blocks),
      reconciler_(
          host,
          [this](std::vector<unreported_usage> usages) {
              return quotas_.store_usage(std::move(usages));
          },
          [this](account_id account) { blocks_.refresh(account); }),
      rpc_(host, blocks_, reconciler_, quotas_, host.clock()),
      purging_(host.executor(), host.metrics(), "purge_days", [this] { return purge_old_days(); }),
      writing_off_(host.executor(), host.metrics(), "write_off_lost_blocks",
                   [this] { return write_off_lost_blocks(); }),
      sweeping_(host.executor(), host.metrics(), "sweep_blocks", [this] { return sweep(); }),
      server_(host, rpc_settings(settings_, rpc_tls_), tokens_),
      units_lost_(host.metrics().counter("tempinbox_rate_limit_units_written_off_total",
                                         "Units of blocks whose lease ended, counted as used"))
{
    db_.require_schema("quota", schema_version);
    rpc_.add_to(server_);
}

void service::start()
{
    admin_.start();
    traces_.start();
    server_.start();
    const auto own = settings_.rpc_advertise.empty()
                         ? reachable_address(host_, server_.local_address())
                         : settings_.rpc_advertise;
    quotas_.set_holder(own);
    others_.set_own_address(own);
    purging_.start();
    writing_off_.start();
    sweeping_.start();
}

awaitable<void> service::drain()
{
    const auto timeout = host_.settings().drain_timeout;
    co_await server_.drain(timeout / 2);
    co_await sweeping_.stop();
    co_await blocks_.close(timeout / 4);
    co_await writing_off_.stop();
    co_await purging_.stop();
    co_await traces_.drain(otlp::drain_timeout);
    db_.stop();
}

awaitable<std::chrono::microseconds> service::purge_old_days()
{
    const day today = day_of(host_.clock().now());
    const auto purged =
        co_await quotas_.purge_before(today - std::chrono::days(settings_.days_kept), today);
    if (purged > 0)
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

awaitable<std::chrono::microseconds> service::sweep()
{
    if (blocks_.sweep())
        co_return 20ms;
    co_return 1s;
}

} // namespace tempinbox::rate_limit
