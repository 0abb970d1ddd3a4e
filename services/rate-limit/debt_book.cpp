#include "rate-limit/debt_book.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace tempinbox::rate_limit {
namespace {

constexpr std::size_t most_a_statement = 1'000;
// Forgotten ones are found by the statement.
constexpr std::size_t most_remembered = 100'000;

} // namespace

debt_book::debt_book(runtime::host& host, store_statement store, stored_callback stored)
    : host_(host),
      store_(std::move(store)),
      stored_(std::move(stored)),
      units_(host.metrics().counter(
          "tempinbox_rate_limit_debt_units_total",
          "Units that gateways had let through, stored; a repeated one counts again here"))
{}

bool debt_book::take(const debt& told)
{
    const auto [entry, is_new] = known_.try_emplace(told.id, false);
    if (!is_new)
        return entry->second;
    gathering_.try_emplace(std::tuple(told.account, told.on_day, told.id), told);
    if (!is_storing_) {
        is_storing_ = true;
        boost::asio::co_spawn(host_.loop(), store_what_gathers(), boost::asio::detached);
    }
    return false;
}

awaitable<void> debt_book::store_what_gathers()
{
    while (!gathering_.empty()) {
        std::vector<debt> next;
        while (!gathering_.empty() && next.size() < most_a_statement) {
            next.push_back(gathering_.begin()->second);
            gathering_.erase(gathering_.begin());
        }
        const bool is_stored = co_await store(next);
        if (is_stored && known_.size() > most_remembered)
            std::erase_if(known_, [](const auto& entry) { return entry.second; });
        for (const auto& each : next) {
            if (!is_stored) {
                known_.erase(each.id);
                continue;
            }
            known_[each.id] = true;
            units_.Increment(static_cast<double>(each.units));
            stored_(each.account);
        }
    }
    is_storing_ = false;
}

awaitable<bool> debt_book::store(std::vector<debt> debts)
{
    std::string problem;
    try {
        co_await store_(std::move(debts));
    } catch (const std::exception& lost) {
        problem = lost.what();
    }
    if (!problem.empty() && !is_failing_)
        log::warning("requests let through are not stored", {{"error", problem}});
    if (problem.empty() && is_failing_)
        log::info("requests let through are stored again");
    is_failing_ = !problem.empty();
    co_return problem.empty();
}

} // namespace tempinbox::rate_limit
