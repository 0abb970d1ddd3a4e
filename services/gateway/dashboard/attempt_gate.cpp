#include "gateway/dashboard/attempt_gate.hpp"

#include "gateway/dashboard/throttle.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

// Not longer, because on other replicas counted attempts may have succeeded since.
constexpr auto max_cached_time = 60s;
constexpr std::size_t max_refused = 100'000;

} // namespace

awaitable<attempt_gate::entry>
attempt_gate::begin(uuid attempt, std::vector<accounts::attempt_subject> of_address)
{
    entry begun;
    if (const auto refused = find_refusal(of_address)) {
        begun.refusal = too_many_attempts(*refused);
        co_return begun;
    }
    begun.slot = co_await strangers_.enter();
    if (!begun.slot) {
        begun.refusal = http::error_response(too_many_lookups());
        co_return begun;
    }
    const auto status = co_await sign_in_.begin_attempt(attempt, std::move(of_address));
    if (!status.is_allowed) {
        begun.slot.reset();
        begun.refusal = too_many_attempts(status);
        remember(status);
    }
    co_return begun;
}

awaitable<void> attempt_gate::take_back(uuid attempt,
                                        std::vector<accounts::attempt_subject> subjects)
{
    for (const auto& subject : subjects)
        refused_.erase(subject.digest);
    return sign_in_.take_back_attempt(attempt, std::move(subjects));
}

std::optional<accounts::attempt_status>
attempt_gate::find_refusal(const std::vector<accounts::attempt_subject>& subjects)
{
    const auto now = steady::now();
    for (const auto& subject : subjects) {
        const auto cached = refused_.find(subject.digest);
        if (cached == refused_.end() || cached->second.cached_until <= now)
            continue;
        accounts::attempt_status status;
        status.is_allowed = false;
        status.retry_after =
            std::max(1s, std::chrono::ceil<std::chrono::seconds>(cached->second.ends_at - now));
        return status;
    }
    return std::nullopt;
}

void attempt_gate::remember(const accounts::attempt_status& refused)
{
    const auto now = steady::now();
    if (refused_.size() >= max_refused)
        std::erase_if(refused_,
                      [now](const auto& cached) { return cached.second.cached_until <= now; });
    if (refused_.size() >= max_refused)
        return;
    const auto cached_for = std::min<std::chrono::seconds>(refused.retry_after, max_cached_time);
    refused_.insert_or_assign(refused.subject_digest,
                              refusal{now + cached_for, now + refused.retry_after});
}

} // namespace tempinbox::gateway
