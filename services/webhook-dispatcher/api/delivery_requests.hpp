#pragma once

#include "webhook-dispatcher/storage/email_deliveries.hpp"
#include "webhook-dispatcher/storage/logged_delivery.hpp"
#include "webhook-dispatcher/storage/replay_repository.hpp"

#include "common/core/list_order.hpp"

#include "tempinbox/webhooks/v1/delivery_service.pb.h"

#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::webhooks {

// A validated request for a page of the log.
struct log_params
{
    account_id account;
    webhook_id webhook;
    std::optional<delivery_status> status;
    list_order order = list_order::newest_first;
    std::optional<event_id> position; // of an earlier page's last delivery
    int limit = 25;
};
result<log_params> read_params(const v1::ListDeliveriesRequest& request);
// The failure names the invalid field; `now` bounds `since`.
result<replay_params> read_params(const v1::ReplayDeliveriesRequest& request, time_point now);

// The cursor of the next page. It is valid only for the same webhook, filter and order.
std::string make_log_cursor(const log_params& params, event_id last);

v1::Delivery to_message(const logged_delivery& shown);
v1::GetEmailDeliveriesResponse to_message(const email_deliveries& found, event_id email);

} // namespace tempinbox::webhooks
