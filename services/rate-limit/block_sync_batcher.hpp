#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/block.hpp"

#include <deque>
#include <functional>
#include <vector>

namespace tempinbox::rate_limit {

// Runs one statement; results in the order of the requests.
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
    bool is_failing() const { return is_failing_; }
    bool is_idle() const { return in_flight_ == 0 && pending_.empty(); }

private:
    struct entry
    {
        block_sync_request request;
        synced_callback done;
    };

    awaitable<void> sync_pending();
    std::vector<entry> next_batch();
    awaitable<std::vector<block_sync_result>> sync(const std::vector<entry>& batch);

    runtime::host& host_;
    sync_statement sync_;
    std::deque<entry> pending_;
    int in_flight_ = 0;
    bool is_failing_ = false;
    prometheus::Counter& statements_;
};

} // namespace tempinbox::rate_limit
