#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "rate-limit/lease.hpp"

#include <deque>
#include <functional>
#include <vector>

namespace tempinbox::rate_limit {

// One statement: answers in the order of the requests.
using settle_statement =
    std::function<awaitable<std::vector<block_answer>>(std::vector<block_request>)>;
// Null: the statement failed, or its outcome is not known.
using settled_callback = std::function<void(const block_request&, const block_answer*)>;

// Gathers settlements while others are under way: at most two statements at a time, so that many
// accounts share one. No block is in two of them, since its holder waits for its answer. Outlives
// its statements.
class settlement_lane
{
public:
    settlement_lane(runtime::host& host, settle_statement settle);
    settlement_lane(const settlement_lane&) = delete;

    void ask(block_request request, settled_callback done);
    // Whether the last statement failed.
    bool is_failing() const { return is_failing_; }
    bool is_idle() const { return under_way_ == 0 && gathering_.empty(); }

private:
    struct entry
    {
        block_request request;
        settled_callback done;
    };

    awaitable<void> settle_what_gathers();
    std::vector<entry> next_batch();
    awaitable<std::vector<block_answer>> settle(const std::vector<entry>& batch);

    runtime::host& host_;
    settle_statement settle_;
    std::deque<entry> gathering_;
    int under_way_ = 0;
    bool is_failing_ = false;
    prometheus::Counter& statements_;
};

} // namespace tempinbox::rate_limit
