#include "common/trace/sampler.hpp"

#include <cmath>

namespace tempinbox::trace {

bool sampler::samples(const std::optional<traceparent>& parent, const traceparent& fresh) const
{
    if (is_parent_based && parent)
        return parent->is_sampled();
    if (ratio >= 1)
        return true;
    // 63 bits, as other implementations of TraceIdRatioBased compare them.
    const auto bound = static_cast<std::uint64_t>(std::ldexp(ratio, 63));
    return fresh.random_part() >> 1 < bound;
}

std::optional<sampler> make_sampler(std::string_view name, double ratio)
{
    constexpr std::string_view prefix = "parentbased_";
    sampler made;
    made.is_parent_based = name.starts_with(prefix);
    const auto root = made.is_parent_based ? name.substr(prefix.size()) : name;
    if (root == "always_on")
        made.ratio = 1;
    else if (root == "always_off")
        made.ratio = 0;
    else if (root == "traceidratio")
        made.ratio = ratio;
    else
        return std::nullopt;
    return made;
}

} // namespace tempinbox::trace
