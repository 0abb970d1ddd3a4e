#pragma once

#include "accounts/key_repository.hpp"
#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "gateway/access/key_cache.hpp"
#include "gateway/access/key_uses.hpp"
#include "gateway/core.hpp"
#include "gateway/mcp/content_reader.hpp"
#include "gateway/pipeline/pipeline.hpp"
#include "gateway/pipeline/tag_check.hpp"

namespace tempinbox::gateway {

struct api_parts
{
    key_cache& keys;
    key_uses& uses;
    quota_client& quota;
    idempotent_calls& idempotency;
    tag_check& tags;
};
using pipeline = basic_pipeline<api_parts>;

// The public API, everything under /v1, and MCP over it: its keys, its quota, its operations.
class api
{
public:
    // `shared` outlives this.
    api(runtime::host& host, const settings& chosen, core& shared);
    api(const api&) = delete;

    void start();
    // Once the requests have ended.
    awaitable<void> stop();

    std::optional<http::response> judge_header(const http::request& received)
    {
        return pipeline_.judge_header(received);
    }
    awaitable<http::response> handle(http::request& received) { return pipeline_.handle(received); }

private:
    postgres::pool changes_db_; // one connection, so reads here wait for nothing else
    accounts::key_repository keys_;
    accounts::key_repository changes_;
    key_cache key_cache_;
    key_uses key_uses_;
    tag_check tag_check_;
    mcp::content_reader contents_;
    pipeline pipeline_;
};

} // namespace tempinbox::gateway
