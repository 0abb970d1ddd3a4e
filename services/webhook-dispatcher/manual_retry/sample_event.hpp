#pragma once

#include "webhook-dispatcher/events/decoded_event.hpp"

namespace tempinbox::webhooks {

// An event that never happened, for the test of a webhook: shaped like a real one, about an inbox
// and an email nobody can find.
decoded_event make_sample(event_kind kind, event_id id, account_id account, time_point now);

} // namespace tempinbox::webhooks
