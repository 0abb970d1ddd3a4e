#include "gateway/dashboard/webhook_notices.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <stdexcept>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 15s;
// Well below the relay's queue size, so sign-up codes have room beside notices.
constexpr int max_notices_per_poll = 20;

} // namespace

webhook_notices::webhook_notices(runtime::host& host, webhook_client& webhooks,
                                 accounts::account_repository& accounts, mail_relay& relay)
    : host_(host),
      webhooks_(webhooks),
      accounts_(accounts),
      relay_(relay),
      poll_task_(host.executor(), host.metrics(), "notify_of_disabled_webhooks",
                 [this] { return poll(); })
{}

void webhook_notices::start()
{
    if (relay_.is_set())
        poll_task_.start();
}

awaitable<void> webhook_notices::stop()
{
    return poll_task_.stop();
}

awaitable<std::chrono::microseconds> webhook_notices::poll()
{
    webhooks::v1::ClaimNoticesRequest request;
    request.set_limit(max_notices_per_poll);
    const auto claimed =
        co_await webhooks_.try_call(webhook_methods::claim_notices, std::move(request));
    if (!claimed)
        throw std::runtime_error(claimed.error().message);
    for (const auto& notice : claimed->notices())
        co_await send(notice);
    co_return poll_interval;
}

awaitable<void> webhook_notices::send(webhooks::v1::DisabledNotice notice)
{
    const auto id = account_id::parse(notice.account_id());
    if (!id)
        throw std::runtime_error(id.error().message);
    const auto account = co_await accounts_.find(*id);
    if (!account || !can_be_mailed(account->email)) {
        co_await settle(std::move(notice)); // there is nobody to email
        co_return;
    }
    auto message = webhook_disabled_message(account->email, relay_.dashboard_url(), notice.url(),
                                            notice.webhook_id(), notice.reason());
    relay_.enqueue(std::move(message), [this, notice] { settle_later(notice); });
}

awaitable<void> webhook_notices::settle(webhooks::v1::DisabledNotice notice)
{
    webhooks::v1::SettleNoticeRequest request;
    request.set_account_id(notice.account_id());
    request.set_webhook_id(notice.webhook_id());
    request.set_notice_id(notice.notice_id());
    const auto settled =
        co_await webhooks_.try_call(webhook_methods::settle_notice, std::move(request));
    if (!settled)
        log::warning("notice of a disabled webhook not settled, its email will be sent again",
                     {{"webhook_id", notice.webhook_id()}, {"error", settled.error().message}});
}

// Called on the relay's thread.
void webhook_notices::settle_later(webhooks::v1::DisabledNotice notice)
{
    boost::asio::co_spawn(host_.loop(), settle(std::move(notice)), boost::asio::detached);
}

} // namespace tempinbox::gateway
