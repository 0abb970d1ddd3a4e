#include "common/core/client_limiter.hpp"

#include <array>

namespace tempinbox {
namespace {

struct prefix
{
    unsigned bits;
    std::size_t bytes;
    std::size_t factor; // multiplies the limit of the narrowest prefix
};

constexpr std::size_t v4_bytes = 4;
constexpr std::array<prefix, 3> v6_prefixes{{{64, 8, 1}, {56, 7, 3}, {48, 6, 6}}};

// Calls `visit(prefix, key)` for each prefix the address is counted by, the narrowest first. Keys
// of different prefixes differ in their length.
template <class Visit>
void for_each_prefix(const boost::asio::ip::address& who, Visit visit)
{
    const auto narrowest = client_prefix(who);
    if (narrowest.size() == v4_bytes) {
        visit(prefix{32, v4_bytes, 1}, narrowest);
        return;
    }
    for (const auto& each : v6_prefixes)
        visit(each, narrowest.substr(0, each.bytes));
}

} // namespace

std::string client_limiter::full_prefix::name() const
{
    const bool is_wide = bits == 56 || bits == 48;
    return "this address" + (is_wide ? "'s /" + std::to_string(bits) : std::string());
}

std::optional<client_limiter::full_prefix> client_limiter::find_full(const address& who,
                                                                     std::size_t max) const
{
    if (max == 0 || is_exempt(who))
        return std::nullopt;
    std::optional<full_prefix> found;
    for_each_prefix(who, [&](const prefix& each, const std::string& key) {
        const auto known = counts_.find(key);
        if (!found && known != counts_.end() && known->second >= max * each.factor)
            found = full_prefix(each.bits, max * each.factor);
    });
    return found;
}

void client_limiter::enter(const address& who)
{
    if (is_exempt(who))
        return;
    for_each_prefix(who, [&](const prefix&, const std::string& key) { ++counts_[key]; });
}

void client_limiter::leave(const address& who)
{
    if (is_exempt(who))
        return;
    for_each_prefix(who, [&](const prefix&, const std::string& key) {
        const auto known = counts_.find(key);
        if (known != counts_.end() && --known->second == 0)
            counts_.erase(known);
    });
}

} // namespace tempinbox
