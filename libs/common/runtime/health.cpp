#include "common/runtime/health.hpp"

#include "common/json/writer.hpp"
#include "common/log/log.hpp"

#include <algorithm>

namespace tempinbox::runtime {

health::health(metrics::registry& metrics)
    : metrics_(metrics),
      ready_(metrics.gauge("tempinbox_ready", "Whether /readyz answers 200: 1 or 0"))
{}

// Conditions that are the process's own, such as its listeners, are dependencies here too.
health::condition_state& health::state_of(const std::string& condition)
{
    auto& state = conditions_[condition];
    if (state.is_up == nullptr)
        state.is_up =
            &metrics_.gauge("tempinbox_dependency_up", "Whether a dependency is available: 1 or 0",
                            {{"dependency", condition}});
    return state;
}

void health::show_readiness()
{
    ready_.Set(is_ready() ? 1 : 0);
}

void health::expect(const std::string& condition)
{
    {
        const std::lock_guard lock(mutex_);
        state_of(condition);
    }
    show_readiness();
}

void health::met(const std::string& condition)
{
    bool was_met = false;
    {
        const std::lock_guard lock(mutex_);
        auto& state = state_of(condition);
        if (!state.is_lost)
            return;
        state.is_up->Set(1);
        was_met = std::exchange(state.was_met, true);
        state.is_lost = false;
        state.reason.clear();
    }
    show_readiness();
    log::info(was_met ? "dependency is available again" : "dependency is available",
              {{"dependency", condition}});
}

void health::lost(const std::string& condition, std::string_view reason)
{
    {
        const std::lock_guard lock(mutex_);
        auto& state = state_of(condition);
        state.is_up->Set(0);
        // Logs the first reason and each new one, but not the same one every second.
        const bool is_news = !state.is_lost || state.reason.empty();
        state.is_lost = true;
        state.reason = reason;
        if (!is_news)
            return;
    }
    log::warning("dependency is unavailable", {{"dependency", condition}, {"reason", reason}});
}

void health::start_draining()
{
    {
        const std::lock_guard lock(mutex_);
        is_draining_ = true;
    }
    show_readiness();
}

bool health::is_ready() const
{
    const std::lock_guard lock(mutex_);
    return !is_draining_ && std::all_of(conditions_.begin(), conditions_.end(),
                                        [](const auto& entry) { return entry.second.was_met; });
}

std::string health::json() const
{
    const bool ready = is_ready();
    const std::lock_guard lock(mutex_);
    std::vector<std::string> degraded;
    json::writer out;
    out.begin_object().member("ready", ready);
    if (is_draining_)
        out.member("draining", true);
    for (const auto& [name, state] : conditions_)
        if (state.was_met && state.is_lost)
            degraded.push_back(name);
    out.member("degraded", degraded);
    out.key("waiting").begin_object();
    for (const auto& [name, state] : conditions_)
        if (!state.was_met)
            out.member(name, state.reason.empty() ? "not there yet" : state.reason);
    out.end_object();
    out.key("reasons").begin_object();
    for (const auto& name : degraded)
        out.member(name, conditions_.at(name).reason);
    out.end_object();
    out.end_object();
    return out.take();
}

} // namespace tempinbox::runtime
