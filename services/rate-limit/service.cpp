#include "rate-limit/service.hpp"

namespace tempinbox::rate_limit {
namespace {

constexpr int schema_version = 1;

} // namespace

service::service(runtime::host& host, settings chosen)
    : host_(host), admin_(host), db_(host, chosen.database), quotas_(db_), rpc_(quotas_, host.clock()), tokens_(chosen.rpc_token_file),
      server_(host, chosen.rpc, tokens_)
{
    host_.health().expect("listeners");
    db_.require_schema("quota", schema_version);
    rpc_.add_to(server_);
}

void service::start()
{
    admin_.start();
    server_.start();
    host_.health().met("listeners");
}

runtime::awaitable<void> service::drain()
{
    co_await server_.drain(host_.settings().drain_timeout);
    db_.stop();
}

} // namespace tempinbox::rate_limit
