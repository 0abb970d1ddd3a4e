#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/pipeline/response_budget.hpp"
#include "gateway/routes/caller.hpp"

#include <string>
#include <string_view>

namespace tempinbox::gateway {

// What happened to an email, in the order of time: connected, accepted, stored, published, rules,
// deliveries and their attempts. A step without a time stands behind its cause, and none stands
// before it, since the services' clocks differ.
// Without `deliveries` their steps are missing, and the timeline says why by the error: the caller
// lacks the scope (error_reason::scope_required), or the dispatcher did not answer (any other).
std::string timeline_json(std::string_view email_id,
                          const inbox::v1::GetEmailArrivalResponse& arrival,
                          const result<webhooks::v1::GetEmailDeliveriesResponse>& deliveries);

awaitable<http::response> get_email_timeline(const http::request& received, const caller& who,
                                             inbox_client& inboxes, webhook_client& webhooks,
                                             response_budget& memory);

} // namespace tempinbox::gateway
