#include "gateway/surfaces/api.hpp"

#include "gateway/mcp/endpoint.hpp"
#include "gateway/resources/events.hpp"
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

// The feed is for programs: the dashboard's page has a stream of its own. MCP is one operation
// more, which calls the others.
std::vector<route> all_operations(core& shared, const capture_server& captures, feed_hub& feeds,
                                  mcp::content_reader& contents)
{
    auto all = operations_below("/v1", shared.services(captures));
    const feed_services feed{shared.inboxes, shared.webhooks, feeds, shared.long_polls,
                             shared.response_memory};
    const auto events = [feed](http::request& received, const caller& who) {
        return list_events(received, who, feed);
    };
    all.emplace_back("GET", "/v1/events", required_scope::any(), body_kind::none, events);
    all.back().lasts = true;
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
      feeds_(host, shared.webhooks),
      contents_(host.executor()),
      pipeline_(host.clock(), all_operations(shared, chosen.captures, feeds_, contents_),
                api_parts{key_cache_, key_uses_, shared.quota, shared.idempotency, tag_check_,
                          shared.inboxes, shared.response_memory},
                chosen.trusted_proxies)
{}

void api::start()
{
    key_cache_.start();
    key_uses_.start();
    feeds_.start();
}

awaitable<void> api::stop()
{
    contents_.stop();
    co_await feeds_.stop();
    co_await key_cache_.stop();
    co_await key_uses_.stop();
    changes_db_.stop();
}

} // namespace tempinbox::gateway
