#include "webhook-dispatcher/delivery/window.hpp"

namespace tempinbox::webhooks {

bool endpoint_window::reserve(queue_kind queue)
{
    if (capacity(queue) == 0)
        return false;
    ++at(queue).held;
    return true;
}

bool endpoint_window::start(queue_kind queue)
{
    if (!has_free_slot(queue))
        return false;
    ++at(queue).in_flight;
    return true;
}

void endpoint_window::finish(queue_kind queue)
{
    --at(queue).in_flight;
    --at(queue).held;
}

} // namespace tempinbox::webhooks
