#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"

namespace tempinbox::webhooks {

// A delivery is one event to one webhook, so its id is derived from theirs: a UUIDv7 with the
// event's time whose random bits are the event's mixed with the webhook's. The id is not stored;
// whoever knows the webhook can recover the event from it.
uuid make_delivery_id(event_id event, webhook_id webhook);
event_id event_of(const uuid& delivery, webhook_id webhook);

failure no_such_delivery(event_id event, webhook_id webhook);

} // namespace tempinbox::webhooks
