#include "webhook-dispatcher/api/webhook_rpc.hpp"

#include "common/rpc/webhook_methods.hpp"
#include "webhook-dispatcher/api/requests.hpp"
#include "webhook-dispatcher/endpoints/signature.hpp"

#include "common/core/text.hpp"
#include "common/http/resolve.hpp"
#include "common/rpc/timestamp.hpp"

#include <algorithm>

namespace tempinbox::webhooks {
namespace {

constexpr std::chrono::seconds lookup_timeout{2};

} // namespace

webhook_rpc::webhook_rpc(runtime::host& host, endpoint_repository& endpoints,
                         const crypto::keyring& keys, url_policy policy, http::resolver resolve)
    : host_(host),
      endpoints_(endpoints),
      keys_(keys),
      policy_(std::move(policy)),
      resolve_(std::move(resolve))
{}

void webhook_rpc::add_to(rpc::server& server)
{
    server.add(webhook_methods::create_webhook, *this, &webhook_rpc::create);
    server.add(webhook_methods::get_webhook, *this, &webhook_rpc::get);
    server.add(webhook_methods::list_webhooks, *this, &webhook_rpc::list);
    server.add(webhook_methods::update_webhook, *this, &webhook_rpc::update);
    server.add(webhook_methods::rotate_secret, *this, &webhook_rpc::rotate);
    server.add(webhook_methods::delete_webhook, *this, &webhook_rpc::remove);
}

awaitable<result<v1::CreateWebhookResponse>> webhook_rpc::create(v1::CreateWebhookRequest request)
{
    auto params = read_params(request, policy_);
    if (!params)
        co_return params.error();
    const auto checked = co_await check_addresses(params->target);
    if (!checked)
        co_return checked.error();
    if (request.check_only())
        co_return v1::CreateWebhookResponse();

    const auto context = params->requested.id.text();
    params->requested.sealed_secret = keys_.seal(make_signing_secret(), context);
    const auto stored =
        co_await endpoints_.create(std::move(params->account), std::move(params->requested));
    if (!stored)
        co_return stored.error();
    // The stored one: a repeated call returns the secret of the first.
    const auto signing = keys_.open(stored->sealed_secret, context);
    if (!signing)
        co_return signing.error();
    v1::CreateWebhookResponse response;
    *response.mutable_webhook() = to_message(apply_url_policy(*stored, policy_));
    response.set_secret(signing->reveal());
    co_return response;
}

// Accepts a name that does not resolve yet, refuses one that leads to a forbidden address. Each
// connection is checked again.
awaitable<result<void>> webhook_rpc::check_addresses(url_target target)
{
    if (target.is_literal)
        co_return result<void>{};
    const auto until = std::chrono::steady_clock::now() + lookup_timeout;
    const auto found = co_await http::resolve(host_.loop(), resolve_, target.host, until);
    const bool is_allowed =
        std::all_of(found.addresses.begin(), found.addresses.end(),
                    [this](const auto& address) { return policy_.addresses.allows(address); });
    if (!is_allowed)
        co_return failure{errc::invalid_argument, "url must lead to a public address; " +
                                                      quote(target.host) +
                                                      " is private, local or reserved"};
    co_return result<void>{};
}

awaitable<result<v1::GetWebhookResponse>> webhook_rpc::get(v1::GetWebhookRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto id = webhook_id::parse(request.webhook_id());
    if (!id)
        co_return id.error();
    const auto found = co_await endpoints_.find(*account, *id);
    if (!found)
        co_return found.error();
    v1::GetWebhookResponse response;
    *response.mutable_webhook() = to_message(apply_url_policy(*found, policy_));
    co_return response;
}

awaitable<result<v1::ListWebhooksResponse>> webhook_rpc::list(v1::ListWebhooksRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto limit = read_limit(request.limit());
    if (!limit)
        co_return limit.error();
    const auto order = to_list_order(request.oldest_first());
    const auto after = read_cursor(request.cursor(), order);
    if (!after)
        co_return after.error();

    // One more than requested shows whether there is another page.
    const auto found = co_await endpoints_.list(*account, order, *after, *limit + 1);
    v1::ListWebhooksResponse response;
    for (const auto& stored : found) {
        if (response.webhooks_size() == *limit) {
            response.set_next_cursor(
                make_cursor(found[static_cast<std::size_t>(*limit) - 1], order));
            break;
        }
        *response.add_webhooks() = to_message(apply_url_policy(stored, policy_));
    }
    co_return response;
}

awaitable<result<v1::UpdateWebhookResponse>> webhook_rpc::update(v1::UpdateWebhookRequest request)
{
    auto params = read_change(request, policy_);
    if (!params)
        co_return params.error();
    if (params->target) {
        const auto checked = co_await check_addresses(*params->target);
        if (!checked)
            co_return checked.error();
    }
    const auto changed =
        co_await endpoints_.update(params->account, params->id, std::move(params->change));
    if (!changed)
        co_return changed.error();
    v1::UpdateWebhookResponse response;
    *response.mutable_webhook() = to_message(apply_url_policy(*changed, policy_));
    co_return response;
}

awaitable<result<v1::RotateSecretResponse>> webhook_rpc::rotate(v1::RotateSecretRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto id = webhook_id::parse(request.webhook_id());
    if (!id)
        co_return id.error();
    const auto rotation = uuid::parse(request.rotation_id());
    if (!rotation)
        co_return bad_id("rotationId", request.rotation_id());

    const auto context = id->text();
    auto sealed = keys_.seal(make_signing_secret(), context);
    const auto stored =
        co_await endpoints_.rotate_secret(*account, *id, *rotation, std::move(sealed));
    if (!stored)
        co_return stored.error();
    // The stored one: a repeated call returns the secret of the first.
    const auto signing = keys_.open(stored->sealed_secret, context);
    if (!signing)
        co_return signing.error();
    v1::RotateSecretResponse response;
    response.set_secret(signing->reveal());
    if (!stored->previous_secrets.empty())
        *response.mutable_previous_valid_until() =
            rpc::to_timestamp(stored->previous_secrets.front().valid_until);
    co_return response;
}

awaitable<result<v1::DeleteWebhookResponse>> webhook_rpc::remove(v1::DeleteWebhookRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto id = webhook_id::parse(request.webhook_id());
    if (!id)
        co_return id.error();
    const auto removed = co_await endpoints_.remove(*account, *id);
    if (!removed)
        co_return removed.error();
    co_return v1::DeleteWebhookResponse();
}

} // namespace tempinbox::webhooks
