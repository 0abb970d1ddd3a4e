#include "gateway/dashboard/end_notices.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <stdexcept>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 60s;
// Well below the relay's queue size, so sign-up codes have room beside notices.
constexpr int max_notices_per_poll = 20;

} // namespace

end_notices::end_notices(runtime::host& host, inbox_client& inboxes,
                         accounts::account_repository& accounts, mail_relay& relay)
    : host_(host),
      inboxes_(inboxes),
      accounts_(accounts),
      relay_(relay),
      poll_task_(host.executor(), host.metrics(), "notify_of_ending_inboxes",
                 [this] { return poll(); })
{}

void end_notices::start()
{
    if (relay_.is_set())
        poll_task_.start();
}

awaitable<void> end_notices::stop()
{
    return poll_task_.stop();
}

awaitable<std::chrono::microseconds> end_notices::poll()
{
    inbox::v1::ClaimEndNoticesRequest request;
    request.set_limit(max_notices_per_poll);
    const auto claimed =
        co_await inboxes_.try_call(inbox_methods::claim_end_notices, std::move(request));
    if (!claimed)
        throw std::runtime_error(claimed.error().message);
    for (const auto& notice : claimed->notices())
        co_await send(notice);
    co_return poll_interval;
}

awaitable<void> end_notices::send(inbox::v1::EndNotice notice)
{
    const auto id = account_id::parse(notice.account_id());
    if (!id)
        throw std::runtime_error(id.error().message);
    const auto account = co_await accounts_.find(*id);
    if (!account || !can_be_mailed(account->email)) {
        co_await settle(std::move(notice)); // there is nobody to email
        co_return;
    }
    auto message = inbox_ends_message(account->email, relay_.dashboard_url(), notice);
    relay_.enqueue(std::move(message), [this, notice] { settle_later(notice); });
}

awaitable<void> end_notices::settle(inbox::v1::EndNotice notice)
{
    inbox::v1::SettleEndNoticeRequest request;
    request.set_account_id(notice.account_id());
    request.set_inbox_id(notice.inbox_id());
    request.set_notice_id(notice.notice_id());
    const auto settled =
        co_await inboxes_.try_call(inbox_methods::settle_end_notice, std::move(request));
    if (!settled)
        log::warning("notice of an inbox's end not settled, its email will be sent again",
                     {{"inbox_id", notice.inbox_id()}, {"error", settled.error().message}});
}

// Called on the relay's thread.
void end_notices::settle_later(inbox::v1::EndNotice notice)
{
    boost::asio::co_spawn(host_.loop(), settle(std::move(notice)), boost::asio::detached);
}

} // namespace tempinbox::gateway
