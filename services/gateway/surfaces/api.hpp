#pragma once

#include "accounts/key_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "gateway/access/key_cache.hpp"
#include "gateway/access/key_uses.hpp"
#include "gateway/core.hpp"
#include "gateway/long_poll/feed_hub.hpp"
#include "gateway/mcp/content_reader.hpp"
#include "gateway/pipeline/api_pipeline.hpp"

#include <string_view>

namespace tempinbox::gateway {

// The public API, everything under /v1, and MCP over it: its keys, its quota, its operations.
class api
{
public:
    // `shared` outlives this.
    api(runtime::host& host, const settings& chosen, core& shared);
    api(const api&) = delete;

    void start();
    // Ends readers of events that wait, so that their requests can finish.
    void interrupt() { feeds_.interrupt(); }
    // Once the requests have ended.
    awaitable<void> stop();

    // feed.activity.
    void take_events(const std::vector<kafka::record>& batch) { feeds_.take_events(batch); }
    bool serves(std::string_view path) const { return pipeline_.serves(path); }
    refusal judge_header(http::request& received) { return pipeline_.judge_header(received); }
    awaitable<http::response> handle(http::request& received) { return pipeline_.handle(received); }

private:
    postgres::pool changes_db_; // one connection, so reads here wait for nothing else
    accounts::key_repository keys_;
    accounts::key_repository changes_;
    key_cache key_cache_;
    key_uses key_uses_;
    tag_check tag_check_;
    feed_hub feeds_;
    mcp::content_reader contents_;
    api_pipeline pipeline_;
};

} // namespace tempinbox::gateway
