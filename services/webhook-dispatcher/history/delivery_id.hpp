#pragma once

#include "common/core/ids.hpp"

namespace tempinbox::webhooks {

// A delivery is one event to one webhook, so its id is made of theirs: a UUIDv7 with the event's
// time whose random bits are the event's mixed with the webhook's. Nothing is stored for it, and
// whoever knows the webhook can read the event back.
uuid make_delivery_id(event_id event, webhook_id webhook);
event_id event_of(const uuid& delivery, webhook_id webhook);

} // namespace tempinbox::webhooks
