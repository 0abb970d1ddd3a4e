#include "webhook-dispatcher/api/notice_calls.hpp"

namespace tempinbox::webhooks {
namespace {

constexpr int most_at_once = 100;

} // namespace

void notice_calls::add_to(rpc::server& server)
{
    const std::string service = "tempinbox.webhooks.v1.NoticeService/";
    server.add<v1::ClaimNoticesRequest, v1::ClaimNoticesResponse>(
        service + "ClaimNotices",
        [this](v1::ClaimNoticesRequest request) { return claim(std::move(request)); });
    server.add<v1::SettleNoticeRequest, v1::SettleNoticeResponse>(
        service + "SettleNotice",
        [this](v1::SettleNoticeRequest request) { return settle(std::move(request)); });
}

awaitable<result<v1::ClaimNoticesResponse>> notice_calls::claim(v1::ClaimNoticesRequest request)
{
    if (request.limit() < 1 || request.limit() > most_at_once)
        co_return failure{errc::invalid_argument,
                          "limit must be an integer from 1 to " + std::to_string(most_at_once)};
    const auto claimed = co_await notices_.claim(request.limit());
    v1::ClaimNoticesResponse response;
    for (const auto& notice : claimed) {
        auto& told = *response.add_notices();
        told.set_notice_id(notice.id.text());
        told.set_account_id(notice.account.text());
        told.set_webhook_id(notice.webhook.text());
        told.set_url(notice.url);
        told.set_reason(notice.reason);
    }
    co_return response;
}

awaitable<result<v1::SettleNoticeResponse>> notice_calls::settle(v1::SettleNoticeRequest request)
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
    co_await notices_.settle(*account, *webhook, *notice);
    co_return v1::SettleNoticeResponse();
}

} // namespace tempinbox::webhooks
