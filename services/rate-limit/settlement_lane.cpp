#include "rate-limit/settlement_lane.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <iterator>

namespace tempinbox::rate_limit {
namespace {

constexpr int most_under_way = 2;
constexpr std::size_t most_a_statement = 200;

} // namespace

settlement_lane::settlement_lane(runtime::host& host, settle_statement settle)
    : host_(host),
      settle_(std::move(settle)),
      statements_(host.metrics().counter("tempinbox_rate_limit_settlements_total",
                                         "SQL statements that settled blocks"))
{}

void settlement_lane::ask(block_request request, settled_callback done)
{
    gathering_.emplace_back(std::move(request), std::move(done));
    if (under_way_ >= most_under_way)
        return;
    ++under_way_;
    boost::asio::co_spawn(host_.loop(), settle_what_gathers(), boost::asio::detached);
}

awaitable<void> settlement_lane::settle_what_gathers()
{
    while (!gathering_.empty()) {
        const auto batch = next_batch();
        const auto answers = co_await settle(batch);
        for (std::size_t i = 0; i < batch.size(); ++i)
            batch[i].done(batch[i].request, i < answers.size() ? &answers[i] : nullptr);
    }
    --under_way_;
}

// In the order in which every replica locks the rows.
std::vector<settlement_lane::entry> settlement_lane::next_batch()
{
    const auto count = static_cast<std::ptrdiff_t>(std::min(gathering_.size(), most_a_statement));
    std::vector<entry> batch(std::make_move_iterator(gathering_.begin()),
                             std::make_move_iterator(gathering_.begin() + count));
    gathering_.erase(gathering_.begin(), gathering_.begin() + count);
    std::sort(batch.begin(), batch.end(), [](const entry& a, const entry& b) {
        return std::tie(a.request.account, a.request.on_day) <
               std::tie(b.request.account, b.request.on_day);
    });
    return batch;
}

awaitable<std::vector<block_answer>> settlement_lane::settle(const std::vector<entry>& batch)
{
    std::vector<block_request> requests;
    requests.reserve(batch.size());
    for (const auto& each : batch)
        requests.push_back(each.request);
    std::vector<block_answer> answers;
    std::string problem;
    try {
        answers = co_await settle_(std::move(requests));
    } catch (const std::exception& lost) {
        problem = lost.what();
    }
    statements_.Increment();
    if (!problem.empty() && !is_failing_)
        log::warning("blocks are not settled", {{"error", problem}});
    if (problem.empty() && is_failing_)
        log::info("blocks are settled again");
    is_failing_ = !problem.empty();
    co_return answers;
}

} // namespace tempinbox::rate_limit
