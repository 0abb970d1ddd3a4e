#include "gateway/surfaces/api.hpp"

#include "gateway/mcp/endpoint.hpp"
#include "gateway/resources/operations.hpp"

namespace tempinbox::gateway {
namespace {

// One connection, for reads that must not wait for others.
postgres::settings one_connection(postgres::settings chosen)
{
    chosen.name = "changes";
    chosen.connections = 1;
    return chosen;
}

// MCP is one operation more, which calls the others.
std::vector<route> all_operations(const operation_services& services, mcp::content_reader& contents)
{
    auto all = operations_below("/v1", services);
    all.push_back(mcp::endpoint(contents));
    return all;
}

} // namespace

api::api(runtime::host& host, const settings& chosen, core& shared)
    : changes_db_(host, one_connection(chosen.database)),
      keys_(shared.db),
      changes_(changes_db_),
      key_cache_(host, keys_, changes_, shared.strangers),
      key_uses_(host, keys_),
      tag_check_(shared.inboxes),
      contents_(host.executor()),
      pipeline_(host.clock(), all_operations(shared.services(), contents_),
                api_parts{key_cache_, key_uses_, shared.quota, shared.idempotency, tag_check_,
                          shared.inboxes, shared.response_memory},
                chosen.trusted_proxies)
{}

void api::start()
{
    key_cache_.start();
    key_uses_.start();
}

awaitable<void> api::stop()
{
    contents_.stop();
    co_await key_cache_.stop();
    co_await key_uses_.stop();
    changes_db_.stop();
}

} // namespace tempinbox::gateway
