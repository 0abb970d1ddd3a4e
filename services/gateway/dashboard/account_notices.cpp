#include "gateway/dashboard/account_notices.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <stdexcept>
#include <utility>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

// Well below the relay's queue size, so sign-up codes have room beside notices.
constexpr int max_notices_per_poll = 20;

template <class Request, class Response>
awaitable<Response> claim(service_client& service, rpc::method<Request, Response> called, int limit)
{
    Request request;
    request.set_limit(limit);
    auto claimed = co_await service.try_call(called, std::move(request));
    if (!claimed)
        throw std::runtime_error(claimed.error().message);
    co_return std::move(*claimed);
}

template <class Request, class Response>
awaitable<void> settle(service_client& service, rpc::method<Request, Response> called,
                       Request request)
{
    const auto settled = co_await service.try_call(called, request);
    if (!settled)
        log::warning("notice not settled, its email will be sent again",
                     {{"method", called.path},
                      {"notice_id", request.notice_id()},
                      {"error", settled.error().message}});
}

awaitable<std::vector<account_notice>> claim_disabled_webhooks(webhook_client& webhooks,
                                                               std::string dashboard_url, int limit)
{
    const auto claimed = co_await claim(webhooks, webhook_methods::claim_notices, limit);
    std::vector<account_notice> notices;
    for (const auto& disabled : claimed.notices()) {
        webhooks::v1::SettleNoticeRequest request;
        request.set_account_id(disabled.account_id());
        request.set_webhook_id(disabled.webhook_id());
        request.set_notice_id(disabled.notice_id());
        auto& notice = notices.emplace_back();
        notice.account_id = disabled.account_id();
        notice.message = webhook_disabled_message({}, dashboard_url, disabled.url(),
                                                  disabled.webhook_id(), disabled.reason());
        notice.settle = [&webhooks, request] {
            return settle(webhooks, webhook_methods::settle_notice, request);
        };
    }
    co_return notices;
}

awaitable<std::vector<account_notice>> claim_ending_inboxes(inbox_client& inboxes,
                                                            std::string dashboard_url, int limit)
{
    const auto claimed = co_await claim(inboxes, inbox_methods::claim_end_notices, limit);
    std::vector<account_notice> notices;
    for (const auto& ending : claimed.notices()) {
        inbox::v1::SettleEndNoticeRequest request;
        request.set_account_id(ending.account_id());
        request.set_inbox_id(ending.inbox_id());
        request.set_notice_id(ending.notice_id());
        auto& notice = notices.emplace_back();
        notice.account_id = ending.account_id();
        notice.message = inbox_ends_message({}, dashboard_url, ending);
        notice.settle = [&inboxes, request] {
            return settle(inboxes, inbox_methods::settle_end_notice, request);
        };
    }
    co_return notices;
}

} // namespace

notice_source disabled_webhook_notices(webhook_client& webhooks, std::string dashboard_url)
{
    return {"notify_of_disabled_webhooks", 15s,
            [&webhooks, url = std::move(dashboard_url)](int limit) {
                return claim_disabled_webhooks(webhooks, url, limit);
            }};
}

notice_source ending_inbox_notices(inbox_client& inboxes, std::string dashboard_url)
{
    return {"notify_of_ending_inboxes", 60s, [&inboxes, url = std::move(dashboard_url)](int limit) {
                return claim_ending_inboxes(inboxes, url, limit);
            }};
}

account_notices::account_notices(runtime::host& host, notice_source source,
                                 accounts::account_repository& accounts, mail_relay& relay)
    : host_(host),
      source_(std::move(source)),
      accounts_(accounts),
      relay_(relay),
      poll_task_(host.executor(), host.metrics(), source_.task, [this] { return poll(); })
{}

void account_notices::start()
{
    if (relay_.is_set())
        poll_task_.start();
}

awaitable<void> account_notices::stop()
{
    return poll_task_.stop();
}

awaitable<std::chrono::microseconds> account_notices::poll()
{
    auto claimed = co_await source_.claim(max_notices_per_poll);
    for (auto& notice : claimed)
        co_await send(std::move(notice));
    co_return source_.poll_interval;
}

awaitable<void> account_notices::send(account_notice notice)
{
    const auto id = account_id::parse(notice.account_id);
    if (!id)
        throw std::runtime_error(id.error().message);
    const auto account = co_await accounts_.find(*id);
    if (!account || !can_be_mailed(account->email)) {
        co_await notice.settle(); // there is nobody to email
        co_return;
    }
    notice.message.to = account->email;
    relay_.enqueue(std::move(notice.message),
                   [&host = host_, settle_later = std::move(notice.settle)] {
                       // On the relay's thread.
                       boost::asio::co_spawn(host.loop(), settle_later(), boost::asio::detached);
                   });
}

} // namespace tempinbox::gateway
