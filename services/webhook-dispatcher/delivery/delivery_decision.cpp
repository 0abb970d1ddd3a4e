#include "webhook-dispatcher/delivery/delivery_decision.hpp"

#include "webhook-dispatcher/delivery/retry_after.hpp"
#include "webhook-dispatcher/delivery/schedule.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono_literals;
using kind = exchange_result::kind;
using step = delivery_decision::step;

bool has_succeeded(const exchange_result& result)
{
    // A 2xx status line accepts the delivery, whatever happens to the body after it.
    const bool is_2xx = result.status >= 200 && result.status < 300;
    return is_2xx && (result.what == kind::answered || result.what == kind::cut_short);
}

bool is_our_fault(kind what)
{
    return what == kind::resolver_failed || what == kind::network_down;
}

double breaker_weight(const exchange_result& result)
{
    if (result.what != kind::answered && result.what != kind::cut_short)
        return 1;
    if (result.status >= 500 || result.status == 408 || result.status == 425)
        return 1;
    if (result.status >= 400 && result.status != 429)
        return 0.5;
    return 0; // redirects and 429: the receiver is up
}

// Responses that say "later": from the third attempt on the wait is at least a minute.
bool wants_backoff(const exchange_result& result)
{
    const auto status = result.status;
    return result.what == kind::timed_out || status == 429 || status == 502 || status == 503 ||
           status == 504;
}

std::string describe(const exchange_result& result)
{
    if (result.what != kind::answered)
        return result.detail;
    if (result.status >= 300 && result.status < 400)
        return "redirects are not followed";
    return {};
}

// The wait before the next attempt; nullopt if there is none.
std::optional<std::chrono::milliseconds> next_wait(const exchange_result& result,
                                                   const attempt_facts& attempt)
{
    const int next = attempt.number + 1;
    if (next > attempt_limit)
        return std::nullopt;

    auto wait = jittered_wait(attempt.event, attempt.webhook, next);
    if (next >= 3 && wants_backoff(result))
        wait = std::max<std::chrono::milliseconds>(wait, 60s);
    if (result.retry_after) {
        if (const auto requested = read_retry_after(*result.retry_after, attempt.now)) {
            const auto base = base_wait(next);
            const std::chrono::milliseconds chosen = std::clamp<std::chrono::milliseconds>(
                *requested, base, std::max<std::chrono::milliseconds>(2 * base, 2h));
            // Never before the time the receiver asked for: the jitter only adds.
            const double factor = 1 + 0.2 * jitter_seed(attempt.event, attempt.webhook, next);
            const std::chrono::milliseconds spread{
                static_cast<std::int64_t>(static_cast<double>(chosen.count()) * factor)};
            wait = wants_backoff(result) ? std::max(wait, spread) : spread;
        }
    }
    if (attempt.now + wait > attempt.delivery_began + delivery_lifetime)
        return std::nullopt;
    return wait;
}

} // namespace

delivery_decision judge(const exchange_result& result, const attempt_facts& attempt)
{
    delivery_decision decision;
    decision.error = describe(result);
    if (has_succeeded(result))
        return decision;

    decision.is_failure = true;
    if (is_our_fault(result.what)) {
        decision.next = step::park;
        const double spread = jitter_seed(attempt.event, attempt.webhook, attempt.number);
        decision.wait =
            std::chrono::milliseconds{5'000 + static_cast<std::int64_t>(25'000 * spread)};
        if (attempt.now + decision.wait > attempt.delivery_began + delivery_lifetime)
            decision.next = step::exhaust;
        return decision;
    }
    if (result.what == kind::refused_address) {
        decision.next = step::abort;
        decision.disables_endpoint =
            "its address is private or reserved, which webhooks may not use";
        return decision;
    }
    // The status line decides, whatever happens to the body.
    if (result.status == 410 && (result.what == kind::answered || result.what == kind::cut_short)) {
        decision.next = step::abort;
        decision.disables_endpoint = "it answered 410 Gone";
        return decision;
    }

    decision.breaker_weight = breaker_weight(result);
    const auto wait = next_wait(result, attempt);
    decision.next = wait ? step::retry : step::exhaust;
    decision.wait = wait.value_or(0ms);
    return decision;
}

} // namespace tempinbox::webhooks
