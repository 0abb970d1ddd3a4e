#include "rate-limit/service.hpp"

namespace tempinbox::rate_limit {
namespace {

constexpr int schema_version = 1;

} // namespace

service::service(runtime::host& host, settings chosen)
    : host_(host),
      kept_(chosen.days_kept),
      admin_(host),
      db_(host, chosen.database),
      quotas_(db_),
      rpc_(quotas_, host.clock()),
      forgetting_(host, "old days not forgotten", [this] { return forget_old_days(); }),
      tokens_(chosen.rpc_token_file),
      server_(host, chosen.rpc, tokens_)
{
    db_.require_schema("quota", schema_version);
    rpc_.add_to(server_);
}

void service::start()
{
    admin_.start();
    server_.start();
    forgetting_.start();
}

awaitable<void> service::drain()
{
    co_await server_.drain(host_.settings().drain_timeout / 2);
    co_await forgetting_.stop();
    db_.stop();
}

awaitable<std::chrono::microseconds> service::forget_old_days()
{
    const auto forgotten = co_await quotas_.forget_before(day_of(host_.clock().now()) - kept_);
    if (forgotten > 0)
        co_return std::chrono::milliseconds(100);
    co_return std::chrono::hours(1);
}

} // namespace tempinbox::rate_limit
