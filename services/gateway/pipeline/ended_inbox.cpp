#include "gateway/pipeline/ended_inbox.hpp"

#include "common/rpc/timestamp.hpp"

namespace tempinbox::gateway {
namespace {

bool is_not_found(const http::response& response)
{
    return response.status == 404 && http::find_header(response.headers, http::error_code_header) ==
                                         to_string(error_reason::not_found);
}

} // namespace

awaitable<http::response> name_ended_inbox(http::response response, const http::request& received,
                                           const caller& who, inbox_client& inboxes)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!is_not_found(response) || !id)
        co_return response;
    inbox::v1::GetInboxRequest request;
    request.set_account_id(who.account().text());
    request.set_inbox_id(id->text());
    const auto found = co_await inboxes.call(inbox_methods::get_inbox, std::move(request));
    if (!found || found->inbox().status() != inbox::v1::INBOX_STATUS_EXPIRED)
        co_return response;
    // One whose time has come ends by itself a moment later.
    const auto& ended = found->inbox();
    const auto& at = ended.has_expired_at() ? ended.expired_at() : ended.expires_at();
    co_return http::error_response(error_reason::inbox_ended, "Inbox " + id->text() + " ended at " +
                                                                  to_iso8601(rpc::to_time(at)));
}

} // namespace tempinbox::gateway
