#include "rate-limit/block_sync_batcher.hpp"

#include <algorithm>
#include <exception>

namespace tempinbox::rate_limit {
namespace {

constexpr std::size_t max_batch_size = 200;
constexpr async::batch_policy policy{.max_in_flight = 2, .max_items = max_batch_size};

} // namespace

block_sync_batcher::block_sync_batcher(runtime::host& host, sync_statement sync)
    : sync_(std::move(sync)),
      statements_(host.metrics().counter("tempinbox_rate_limit_block_syncs_total",
                                         "SQL statements that synced blocks")),
      batches_(host.executor(), policy, "blocks are not synced",
               [this](std::vector<entry> batch) { return this->sync(std::move(batch)); })
{}

void block_sync_batcher::submit(block_sync_request request, synced_callback done)
{
    batches_.submit(entry{std::move(request), std::move(done)});
}

awaitable<void> block_sync_batcher::sync(std::vector<entry> batch)
{
    // In the order in which every replica locks the rows.
    std::sort(batch.begin(), batch.end(), [](const entry& a, const entry& b) {
        return std::tie(a.request.account, a.request.on_day) <
               std::tie(b.request.account, b.request.on_day);
    });
    std::vector<block_sync_request> requests;
    requests.reserve(batch.size());
    for (const auto& each : batch)
        requests.push_back(each.request);

    std::vector<block_sync_result> results;
    std::exception_ptr error;
    try {
        results = co_await sync_(std::move(requests));
    } catch (const std::exception&) {
        // Those who wait learn of it first; the batcher logs it.
        error = std::current_exception();
    }
    statements_.Increment();
    for (std::size_t i = 0; i < batch.size(); ++i)
        batch[i].done(batch[i].request, i < results.size() ? &results[i] : nullptr);
    if (error)
        std::rethrow_exception(error);
}

} // namespace tempinbox::rate_limit
