#include "webhook-dispatcher/delivery/schedule.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::webhooks {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::chrono::milliseconds, attempt_limit> waits{0s, 5s, 30s, 5min, 30min,
                                                                     2h, 6h, 12h, 24h,  24h};

// The finalizer of splitmix64: every input bit moves every output bit.
std::uint64_t mix(std::uint64_t value)
{
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27) * 0x94d049bb133111ebU;
    return value ^ value >> 31;
}

std::uint64_t mix_in(std::uint64_t seed, const uuid& id)
{
    for (std::size_t half = 0; half < 16; half += 8) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < 8; ++i)
            word = word << 8 | id.bytes()[half + i];
        seed = mix(seed ^ word);
    }
    return seed;
}

} // namespace

std::chrono::milliseconds base_wait(int attempt)
{
    return waits[static_cast<std::size_t>(std::clamp(attempt, 1, attempt_limit) - 1)];
}

double jitter_seed(event_id event, webhook_id webhook, int attempt)
{
    const auto seed =
        mix_in(mix_in(mix(static_cast<std::uint64_t>(attempt)), event.value()), webhook.value());
    return static_cast<double>(seed >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

std::chrono::milliseconds jittered_wait(event_id event, webhook_id webhook, int attempt)
{
    const double factor = 0.8 + 0.4 * jitter_seed(event, webhook, attempt);
    return std::chrono::milliseconds{
        static_cast<std::int64_t>(static_cast<double>(base_wait(attempt).count()) * factor)};
}

} // namespace tempinbox::webhooks
