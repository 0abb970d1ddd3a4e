#pragma once

#include "webhook-dispatcher/storage/delivery.hpp"

#include <array>
#include <cstddef>

namespace tempinbox::webhooks {

// How much of one endpoint this process may hold: 8 requests in flight (6 first attempts, 2
// retries), and as many again waiting in memory.
class endpoint_window
{
public:
    static constexpr std::size_t slots(queue_kind queue)
    {
        return queue == queue_kind::first ? 6 : 2;
    }

    // How many more deliveries may be held.
    std::size_t capacity(queue_kind queue) const { return 2 * slots(queue) - at(queue).held; }
    bool reserve(queue_kind queue);
    // For a reserved delivery that will not be sent from here.
    void release(queue_kind queue) { --at(queue).held; }

    bool has_free_slot(queue_kind queue) const { return at(queue).in_flight < slots(queue); }
    // False: all slots are in use.
    bool start(queue_kind queue);
    void finish(queue_kind queue);

    bool is_idle() const { return counts_[0].held == 0 && counts_[1].held == 0; }

private:
    struct count
    {
        std::size_t held = 0;
        std::size_t in_flight = 0;
    };
    count& at(queue_kind queue) { return counts_[static_cast<std::size_t>(queue)]; }
    const count& at(queue_kind queue) const { return counts_[static_cast<std::size_t>(queue)]; }

    std::array<count, 2> counts_{};
};

} // namespace tempinbox::webhooks
