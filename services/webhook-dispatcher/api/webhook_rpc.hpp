#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/endpoints/url_policy.hpp"
#include "webhook-dispatcher/storage/endpoint_repository.hpp"

#include "common/crypto/sealing.hpp"
#include "common/http/client.hpp"
#include "common/rpc/server.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::webhooks {

// The RPCs about endpoints.
class webhook_rpc
{
public:
    webhook_rpc(runtime::host& host, endpoint_repository& endpoints, const crypto::keyring& keys,
                url_policy policy, http::resolver resolve);

    void add_to(rpc::server& server);

    awaitable<result<v1::CreateWebhookResponse>> create(v1::CreateWebhookRequest request);
    awaitable<result<v1::GetWebhookResponse>> get(v1::GetWebhookRequest request);
    awaitable<result<v1::ListWebhooksResponse>> list(v1::ListWebhooksRequest request);
    awaitable<result<v1::UpdateWebhookResponse>> update(v1::UpdateWebhookRequest request);
    awaitable<result<v1::RotateSecretResponse>> rotate(v1::RotateSecretRequest request);
    awaitable<result<v1::DeleteWebhookResponse>> remove(v1::DeleteWebhookRequest request);

private:
    awaitable<result<void>> check_addresses(url_target target);

    runtime::host& host_;
    endpoint_repository& endpoints_;
    const crypto::keyring& keys_;
    url_policy policy_;
    http::resolver resolve_;
};

} // namespace tempinbox::webhooks
