#include "webhook-dispatcher/api/notice_rpc.hpp"

#include "common/rpc/webhook_methods.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr int max_claimed = 100;

} // namespace

void notice_rpc::add_to(rpc::server& server)
{
    server.add(webhook_methods::claim_notices, *this, &notice_rpc::claim);
    server.add(webhook_methods::settle_notice, *this, &notice_rpc::settle);
}

awaitable<result<v1::ClaimNoticesResponse>> notice_rpc::claim(v1::ClaimNoticesRequest request)
{
    if (request.limit() < 1 || request.limit() > max_claimed)
        co_return failure{errc::invalid_argument,
                          "limit must be an integer from 1 to " + std::to_string(max_claimed)};
    const auto claimed = co_await endpoints_.claim_notices(request.limit());
    v1::ClaimNoticesResponse response;
    for (const auto& notice : claimed) {
        auto& message = *response.add_notices();
        message.set_notice_id(notice.id.text());
        message.set_account_id(notice.account.text());
        message.set_webhook_id(notice.webhook.text());
        message.set_url(notice.url);
        message.set_reason(notice.reason);
    }
    co_return response;
}

awaitable<result<v1::SettleNoticeResponse>> notice_rpc::settle(v1::SettleNoticeRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto webhook = webhook_id::parse(request.webhook_id());
    if (!webhook)
        co_return webhook.error();
    const auto notice = uuid::parse(request.notice_id());
    if (!notice)
        co_return bad_id("noticeId", request.notice_id());
    co_await endpoints_.settle_notice(*account, *webhook, *notice);
    co_return v1::SettleNoticeResponse();
}

} // namespace tempinbox::webhooks
