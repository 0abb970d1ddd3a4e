#pragma once

#include <array>
#include <cstddef>

namespace tempinbox::webhooks {

// First tries and retries have slots of their own, so that neither waits for the other.
enum class lane_kind { first, retry };

// How much of one endpoint this process may hold: 8 requests in flight (6 first tries, 2 retries),
// and as many again waiting in memory.
class endpoint_window
{
public:
    static constexpr std::size_t slots(lane_kind lane) { return lane == lane_kind::first ? 6 : 2; }

    // How many more deliveries may be held.
    std::size_t places(lane_kind lane) const { return 2 * slots(lane) - at(lane).held; }
    bool reserve(lane_kind lane);
    // A reserved one that will not be sent from here.
    void release(lane_kind lane) { --at(lane).held; }

    bool has_free_slot(lane_kind lane) const { return at(lane).in_flight < slots(lane); }
    // False: all slots are in use.
    bool start(lane_kind lane);
    void finish(lane_kind lane);

    bool is_idle() const { return counts_[0].held == 0 && counts_[1].held == 0; }

private:
    struct count
    {
        std::size_t held = 0;
        std::size_t in_flight = 0;
    };
    count& at(lane_kind lane) { return counts_[static_cast<std::size_t>(lane)]; }
    const count& at(lane_kind lane) const { return counts_[static_cast<std::size_t>(lane)]; }

    std::array<count, 2> counts_{};
};

} // namespace tempinbox::webhooks
