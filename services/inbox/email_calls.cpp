#include "inbox/email_calls.hpp"

#include "inbox/inbox_requests.hpp"
#include "inbox/messages.hpp"

namespace tempinbox::inbox {

void email_calls::add_to(rpc::server& server)
{
    const std::string service = "tempinbox.inbox.v1.InboxService/";
    server.add<v1::ListEmailsRequest, v1::ListEmailsResponse>(
        service + "ListEmails", [this](v1::ListEmailsRequest request) { return list(std::move(request)); });
    server.add<v1::GetEmailRequest, v1::GetEmailResponse>(
        service + "GetEmail", [this](v1::GetEmailRequest request) { return get(std::move(request)); });
}

awaitable<result<v1::ListEmailsResponse>> email_calls::list(v1::ListEmailsRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto inbox = inbox_id::parse(request.inbox_id());
    if (!inbox)
        co_return inbox.error();
    const auto limit = read_limit(request.limit());
    if (!limit)
        co_return limit.error();
    if (request.after() < 0)
        co_return failure{errc::invalid_argument, "after must be an integer from 0, not " + std::to_string(request.after())};

    const auto page = co_await emails_.list(*account, *inbox, *limit, request.cursor(), request.after());
    if (!page)
        co_return page.error();
    v1::ListEmailsResponse response;
    for (const auto& email : page->items)
        *response.add_emails() = to_message(email);
    response.set_next_cursor(page->next_cursor);
    co_return response;
}

awaitable<result<v1::GetEmailResponse>> email_calls::get(v1::GetEmailRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    const auto id = email_id::parse(request.email_id());
    if (!id)
        co_return id.error();

    auto email = co_await emails_.find(*account, *id);
    if (!email)
        co_return email.error();
    const auto view = co_await reader_.read(std::move(email->raw));
    if (!view)
        co_return view.error();
    v1::GetEmailResponse response;
    *response.mutable_email() = to_message(*email, *view);
    co_return response;
}

} // namespace tempinbox::inbox
