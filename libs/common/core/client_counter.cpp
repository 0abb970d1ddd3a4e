#include "common/core/client_counter.hpp"

#include "common/core/network.hpp"

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

std::optional<client_counter::full_prefix> client_counter::find_full(const address& who,
                                                                     std::size_t max) const
{
    std::optional<full_prefix> found;
    for_each_prefix(who, [&](const prefix& each, const std::string& key) {
        const auto known = counts_.find(key);
        if (!found && known != counts_.end() && known->second >= max * each.factor)
            found = full_prefix(each.bits, max * each.factor);
    });
    return found;
}

void client_counter::enter(const address& who)
{
    for_each_prefix(who, [&](const prefix&, const std::string& key) { ++counts_[key]; });
}

void client_counter::leave(const address& who)
{
    for_each_prefix(who, [&](const prefix&, const std::string& key) {
        const auto known = counts_.find(key);
        if (known != counts_.end() && --known->second == 0)
            counts_.erase(known);
    });
}

} // namespace tempinbox
