#include "inbox/api/end_notice_rpc.hpp"

#include "common/rpc/inbox_methods.hpp"
#include "common/rpc/timestamp.hpp"
#include "inbox/api/inbox_requests.hpp"

namespace tempinbox::inbox {
namespace {

constexpr int max_claimed = 100;

v1::EndNotice to_message(const mailbox::end_notice& notice)
{
    v1::EndNotice message;
    message.set_notice_id(notice.id.text());
    message.set_account_id(notice.account.text());
    message.set_inbox_id(notice.inbox.text());
    message.set_email_address(notice.address);
    *message.mutable_expires_at() = rpc::to_timestamp(notice.expires_at);
    message.set_days(notice.days);
    message.set_has_login(notice.has_login);
    return message;
}

} // namespace

void end_notice_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::claim_end_notices, *this, &end_notice_rpc::claim);
    server.add(inbox_methods::settle_end_notice, *this, &end_notice_rpc::settle);
}

awaitable<result<v1::ClaimEndNoticesResponse>>
end_notice_rpc::claim(v1::ClaimEndNoticesRequest request)
{
    if (request.limit() < 1 || request.limit() > max_claimed)
        co_return failure{errc::invalid_argument,
                          "limit must be an integer from 1 to " + std::to_string(max_claimed)};

    const auto claimed = co_await notices_.claim(request.limit());
    v1::ClaimEndNoticesResponse response;
    for (const auto& notice : claimed)
        *response.add_notices() = to_message(notice);
    co_return response;
}

awaitable<result<v1::SettleEndNoticeResponse>>
end_notice_rpc::settle(v1::SettleEndNoticeRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, inbox] = *name;
    const auto notice = uuid::parse(request.notice_id());
    if (!notice)
        co_return bad_id("noticeId", request.notice_id());

    co_await notices_.settle(account, inbox, *notice);
    co_return v1::SettleEndNoticeResponse();
}

} // namespace tempinbox::inbox
