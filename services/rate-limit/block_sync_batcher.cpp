#include "rate-limit/block_sync_batcher.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <iterator>

namespace tempinbox::rate_limit {
namespace {

constexpr int max_in_flight = 2;
constexpr std::size_t max_batch_size = 200;

} // namespace

block_sync_batcher::block_sync_batcher(runtime::host& host, sync_statement sync)
    : host_(host),
      sync_(std::move(sync)),
      statements_(host.metrics().counter("tempinbox_rate_limit_settlements_total",
                                         "SQL statements that synced blocks"))
{}

void block_sync_batcher::submit(block_sync_request request, synced_callback done)
{
    pending_.emplace_back(std::move(request), std::move(done));
    if (in_flight_ >= max_in_flight)
        return;
    ++in_flight_;
    boost::asio::co_spawn(host_.loop(), sync_pending(), boost::asio::detached);
}

awaitable<void> block_sync_batcher::sync_pending()
{
    while (!pending_.empty()) {
        const auto batch = next_batch();
        const auto results = co_await sync(batch);
        for (std::size_t i = 0; i < batch.size(); ++i)
            batch[i].done(batch[i].request, i < results.size() ? &results[i] : nullptr);
    }
    --in_flight_;
}

// Sorted in the order in which every replica locks the rows.
std::vector<block_sync_batcher::entry> block_sync_batcher::next_batch()
{
    const auto count = static_cast<std::ptrdiff_t>(std::min(pending_.size(), max_batch_size));
    std::vector<entry> batch(std::make_move_iterator(pending_.begin()),
                             std::make_move_iterator(pending_.begin() + count));
    pending_.erase(pending_.begin(), pending_.begin() + count);
    std::sort(batch.begin(), batch.end(), [](const entry& a, const entry& b) {
        return std::tie(a.request.account, a.request.on_day) <
               std::tie(b.request.account, b.request.on_day);
    });
    return batch;
}

awaitable<std::vector<block_sync_result>> block_sync_batcher::sync(const std::vector<entry>& batch)
{
    std::vector<block_sync_request> requests;
    requests.reserve(batch.size());
    for (const auto& each : batch)
        requests.push_back(each.request);
    std::vector<block_sync_result> results;
    std::string error_text;
    try {
        results = co_await sync_(std::move(requests));
    } catch (const std::exception& lost) {
        error_text = lost.what();
    }
    statements_.Increment();
    if (!error_text.empty() && !is_failing_)
        log::warning("blocks are not synced", {{"error", error_text}});
    if (error_text.empty() && is_failing_)
        log::info("blocks are synced again");
    is_failing_ = !error_text.empty();
    co_return results;
}

} // namespace tempinbox::rate_limit
