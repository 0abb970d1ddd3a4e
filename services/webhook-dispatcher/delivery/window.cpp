#include "webhook-dispatcher/delivery/window.hpp"

namespace tempinbox::webhooks {

bool endpoint_window::reserve(lane_kind lane)
{
    if (places(lane) == 0)
        return false;
    ++at(lane).held;
    return true;
}

bool endpoint_window::start(lane_kind lane)
{
    if (!has_free_slot(lane))
        return false;
    ++at(lane).in_flight;
    return true;
}

void endpoint_window::finish(lane_kind lane)
{
    --at(lane).in_flight;
    --at(lane).held;
}

} // namespace tempinbox::webhooks
