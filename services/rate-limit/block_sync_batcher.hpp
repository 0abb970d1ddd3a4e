#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/block.hpp"

#include <functional>
#include <vector>

namespace tempinbox::rate_limit {

// Runs one statement (quota_repository::sync; a function for the tests' model of it, see
// block_pool); results in the order of the requests.
using sync_statement =
    std::function<awaitable<std::vector<block_sync_result>>(std::vector<block_sync_request>)>;
// The result is null if the statement failed or its outcome is unknown.
using synced_callback = std::function<void(const block_sync_request&, const block_sync_result*)>;

// Batches the syncs of many accounts: while two statements are in flight, requests gather for the
// next (200 at most). No block is in two statements, since its holder waits for the result. Must
// outlive its statements.
class block_sync_batcher
{
public:
    block_sync_batcher(runtime::host& host, sync_statement sync);
    block_sync_batcher(const block_sync_batcher&) = delete;

    void submit(block_sync_request request, synced_callback done);
    // Whether the last statement failed.
    bool is_failing() const { return batches_.is_failing(); }
    bool is_idle() const { return batches_.pending() == 0; }

private:
    struct entry
    {
        block_sync_request request;
        synced_callback done;
    };

    awaitable<void> sync(std::vector<entry> batch);

    sync_statement sync_;
    prometheus::Counter& statements_;
    async::batcher<entry, void> batches_;
};

} // namespace tempinbox::rate_limit
