#pragma once

#include "common/async/wait_group.hpp"
#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/engine.hpp"
#include "webhook-dispatcher/routing/config_cache.hpp"
#include "webhook-dispatcher/storage/manual_delivery_repository.hpp"

#include <memory>
#include <optional>
#include <unordered_map>

namespace tempinbox::webhooks {

// Sends a delivery at once because its account requested it, and returns when the receiver has
// answered. Bypasses the window and the circuit breaker, which do not count it. Limits for each
// webhook, for each account (so that none can take all places: rate_limited) and for the process
// (unavailable) bound it. Used on the loop only.
class manual_sender
{
public:
    manual_sender(runtime::host& host, manual_delivery_repository& deliveries,
                  config_cache& configs, request_sender send);

    using receiver_ptr = std::shared_ptr<const receiver>;

    // Not_found if the account has no such webhook, permission_denied if its plan does not include
    // it.
    awaitable<result<receiver_ptr>> find_receiver(account_id account, webhook_id webhook);

    // Sends a made-up event with that id, even to a webhook that is switched off, by default of the
    // first kind that it subscribes to. A failure changes nothing about the webhook.
    awaitable<result<void>> test(account_id account, webhook_id webhook, event_id event,
                                 std::optional<event_kind> kind);
    // Conflict while the delivery is being sent, and if the webhook is switched off. Repeating the
    // call with the same lease sends nothing.
    awaitable<result<void>> retry(account_id account, webhook_id webhook, event_id event,
                                  uuid lease);

    // Takes nothing new; waits until `until` for requests in flight. What is left is sent again by
    // the process that finds its lease expired.
    awaitable<void> drain(std::chrono::steady_clock::time_point until);

private:
    awaitable<void> send(taken_delivery taken, receiver_ptr to, event_id event, uuid lease);
    awaitable<sent_request> exchange(delivery_job job);
    result<void> check_capacity(account_id account) const;

    runtime::host& host_;
    manual_delivery_repository& deliveries_;
    config_cache& configs_;
    request_sender send_;
    async::wait_group in_flight_; // requests
    std::unordered_map<account_id, std::size_t> in_flight_of_;
    bool is_draining_ = false;
    prometheus::Counter& sent_;
};

} // namespace tempinbox::webhooks
