#pragma once

#include "webhook-dispatcher/events/decoded_event.hpp"

namespace tempinbox::webhooks {

// A made-up event to test a webhook: shaped like a real one, about an inbox and an email that do
// not exist.
decoded_event make_sample(event_kind kind, event_id id, account_id account, time_point now);

} // namespace tempinbox::webhooks
