#include "rate-limit/usage_reconciler.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::rate_limit {
namespace {

constexpr std::size_t max_batch_size = 1'000;
// The statement dedups ids that were evicted here.
constexpr std::size_t max_dedup_entries = 100'000;

} // namespace

usage_reconciler::usage_reconciler(runtime::host& host, store_statement store,
                                   stored_callback stored)
    : host_(host),
      store_(std::move(store)),
      stored_(std::move(stored)),
      units_(host.metrics().counter(
          "tempinbox_rate_limit_debt_units_total",
          "Units of unreported usage stored; a repeated report counts again here"))
{}

bool usage_reconciler::take(const unreported_usage& reported)
{
    const auto [entry, is_new] = dedup_.try_emplace(reported.id, false);
    if (!is_new)
        return entry->second;
    pending_.try_emplace(std::tuple(reported.account, reported.on_day, reported.id), reported);
    if (!is_storing_) {
        is_storing_ = true;
        boost::asio::co_spawn(host_.loop(), store_pending(), boost::asio::detached);
    }
    return false;
}

awaitable<void> usage_reconciler::store_pending()
{
    while (!pending_.empty()) {
        std::vector<unreported_usage> next;
        while (!pending_.empty() && next.size() < max_batch_size) {
            next.push_back(pending_.begin()->second);
            pending_.erase(pending_.begin());
        }
        const bool is_stored = co_await store(next);
        if (is_stored && dedup_.size() > max_dedup_entries)
            std::erase_if(dedup_, [](const auto& entry) { return entry.second; });
        for (const auto& each : next) {
            if (!is_stored) {
                dedup_.erase(each.id);
                continue;
            }
            dedup_[each.id] = true;
            units_.Increment(static_cast<double>(each.units));
            stored_(each.account);
        }
    }
    is_storing_ = false;
}

awaitable<bool> usage_reconciler::store(std::vector<unreported_usage> usages)
{
    std::string error_text;
    try {
        co_await store_(std::move(usages));
    } catch (const std::exception& lost) {
        error_text = lost.what();
    }
    if (!error_text.empty() && !is_failing_)
        log::warning("unreported usage not stored", {{"error", error_text}});
    if (error_text.empty() && is_failing_)
        log::info("unreported usage is stored again");
    is_failing_ = !error_text.empty();
    co_return error_text.empty();
}

} // namespace tempinbox::rate_limit
