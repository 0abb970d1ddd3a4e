#pragma once

#include "accounts/account.hpp"
#include "accounts/plan.hpp"
#include "common/core/errors.hpp"
#include "common/core/time.hpp"
#include "common/json/writer.hpp"
#include "gateway/json/capture.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"
#include "tempinbox/webhooks/v1/delivery_service.pb.h"
#include "tempinbox/webhooks/v1/webhook_service.pb.h"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::gateway {

// The resources of the API as JSON, field by field as the API's documentation lists them.

struct inbox_extras
{
    bool fullness = false;               // for the dashboard alone
    std::optional<secret> password = {}; // of its login, if it was just made
};
std::string to_json(const inbox::v1::Inbox& inbox, const capture_server& server,
                    const inbox_extras& extras = {});
// An inbox of a batch: created, or why it was refused.
using created_inbox = result<inbox::v1::CreateInboxResponse>;
// With the password of each, where one was made.
std::string to_json(const std::vector<created_inbox>& batch, const capture_server& server,
                    const std::vector<std::optional<secret>>& passwords);
std::string to_json(const inbox::v1::ListInboxesResponse& list, const capture_server& server);
std::string to_json(const inbox::v1::ListRejectionsResponse& list);
std::string to_json(const inbox::v1::FaultSet& faults);
std::string to_json(const inbox::v1::SenderReport& report);
std::string to_json(const inbox::v1::ListDomainsResponse& list);
// If the routing is not known, `routing` is null.
std::string to_json(const inbox::v1::Email& email,
                    const webhooks::v1::GetRoutingResponse& routing = {});
std::string to_json(const inbox::v1::EmailSummary& email);
// The parts of each email that `include` adds to a list.
struct email_extras
{
    bool text = false;
    bool codes = false;
    bool links = false;
};
std::string to_json(const inbox::v1::ListEmailsResponse& list, const email_extras& extras = {});
std::string to_json(const webhooks::v1::Webhook& webhook);
std::string to_json(const webhooks::v1::CreateWebhookResponse& created); // with the secret
std::string to_json(const webhooks::v1::ListWebhooksResponse& list);
std::string to_json(const webhooks::v1::Delivery& delivery);
std::string to_json(const webhooks::v1::ListDeliveriesResponse& list);
std::string to_json(const webhooks::v1::RotateSecretResponse& rotated, std::string_view webhook_id);
std::string to_json(const webhooks::v1::Rule& rule);
std::string to_json(const webhooks::v1::ListRulesResponse& list);
std::string to_json(const webhooks::v1::TestRulesResponse& tested);

struct account_usage
{
    std::int64_t requests_today = 0;
    std::int64_t live_inboxes = 0;
    std::int64_t webhooks = 0;
};
std::string to_json(const accounts::account& account, const account_usage& usage, time_point now);
// The signed-in account, with the CSRF token that the page must send with each change.
std::string session_json(const accounts::account& account, std::string_view csrf_token,
                         time_point now);

// The price list.
std::string to_json(const std::vector<accounts::plan>& plans);

// `{"inboxId":"…","deleted":true}`
std::string deleted_json(std::string_view id_name, std::string_view id);
// `{"deletedCount":3}`
std::string deleted_count_json(std::int64_t count);
// `{"webhookId":"…","replayedCount":3}`
std::string replayed_json(std::string_view webhook, std::int64_t deliveries);
// `{"inboxId":"…","deletedCount":3}`
std::string emptied_json(std::string_view id, std::int64_t emails);

} // namespace tempinbox::gateway
