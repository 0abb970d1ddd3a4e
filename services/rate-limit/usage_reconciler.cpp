#include "rate-limit/usage_reconciler.hpp"

#include <algorithm>
#include <tuple>

namespace tempinbox::rate_limit {
namespace {

constexpr async::batch_policy policy{.max_items = 1'000};
// The statement dedups ids that were evicted here.
constexpr std::size_t max_dedup_entries = 100'000;

} // namespace

usage_reconciler::usage_reconciler(runtime::host& host, store_statement store,
                                   stored_callback stored)
    : store_(std::move(store)),
      stored_(std::move(stored)),
      units_(host.metrics().counter(
          "tempinbox_rate_limit_unreported_units_total",
          "Units of unreported usage stored; a repeated report counts again here")),
      batches_(
          host.executor(), policy, "unreported usage not stored",
          [this](std::vector<unreported_usage> usages) { return this->store(std::move(usages)); })
{}

bool usage_reconciler::take(const unreported_usage& reported)
{
    const auto [entry, is_new] = dedup_.try_emplace(reported.id, false);
    if (!is_new)
        return entry->second;
    batches_.submit(reported);
    return false;
}

awaitable<void> usage_reconciler::store(std::vector<unreported_usage> usages)
{
    // As the statement requires.
    std::sort(usages.begin(), usages.end(), [](const auto& a, const auto& b) {
        return std::tie(a.account, a.on_day, a.id) < std::tie(b.account, b.on_day, b.id);
    });
    try {
        co_await store_(usages);
    } catch (const std::exception&) {
        // The gateways report it again; the batcher logs it.
        for (const auto& each : usages)
            dedup_.erase(each.id);
        throw;
    }
    if (dedup_.size() > max_dedup_entries)
        std::erase_if(dedup_, [](const auto& entry) { return entry.second; });
    for (const auto& each : usages) {
        dedup_[each.id] = true;
        units_.Increment(static_cast<double>(each.units));
        stored_(each.account);
    }
}

} // namespace tempinbox::rate_limit
