#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/service_client.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::gateway {

// The inbox service as the API sees it.
class inbox_client
{
public:
    inbox_client(runtime::host& host, std::vector<host_port> replicas, rpc::tokens& tokens)
        : service_(host, "inbox", std::move(replicas), tokens)
    {}

    template <class T>
    using answer = awaitable<result<T>>;

    answer<inbox::v1::CreateInboxResponse> create(inbox::v1::CreateInboxRequest request)
    {
        return call<inbox::v1::CreateInboxResponse>("tempinbox.inbox.v1.InboxService/CreateInbox", std::move(request));
    }
    answer<inbox::v1::GetInboxResponse> find(inbox::v1::GetInboxRequest request)
    {
        return call<inbox::v1::GetInboxResponse>("tempinbox.inbox.v1.InboxService/GetInbox", std::move(request));
    }
    answer<inbox::v1::ListInboxesResponse> list(inbox::v1::ListInboxesRequest request)
    {
        return call<inbox::v1::ListInboxesResponse>("tempinbox.inbox.v1.InboxService/ListInboxes", std::move(request));
    }
    answer<inbox::v1::DeleteInboxResponse> remove(inbox::v1::DeleteInboxRequest request)
    {
        return call<inbox::v1::DeleteInboxResponse>("tempinbox.inbox.v1.InboxService/DeleteInbox", std::move(request));
    }
    answer<inbox::v1::CountInboxesResponse> count(inbox::v1::CountInboxesRequest request)
    {
        return call<inbox::v1::CountInboxesResponse>("tempinbox.inbox.v1.InboxService/CountInboxes", std::move(request));
    }
    answer<inbox::v1::ListEmailsResponse> list_emails(inbox::v1::ListEmailsRequest request)
    {
        return call<inbox::v1::ListEmailsResponse>("tempinbox.inbox.v1.InboxService/ListEmails", std::move(request));
    }
    answer<inbox::v1::GetEmailResponse> find_email(inbox::v1::GetEmailRequest request)
    {
        return call<inbox::v1::GetEmailResponse>("tempinbox.inbox.v1.InboxService/GetEmail", std::move(request));
    }
    answer<inbox::v1::CountEmailsResponse> count_emails(inbox::v1::CountEmailsRequest request)
    {
        return call<inbox::v1::CountEmailsResponse>("tempinbox.inbox.v1.InboxService/CountEmails", std::move(request));
    }
    answer<inbox::v1::ListDomainsResponse> list_domains()
    {
        return call<inbox::v1::ListDomainsResponse>("tempinbox.inbox.v1.InboxService/ListDomains",
                                                    inbox::v1::ListDomainsRequest());
    }

private:
    template <class Response, class Request>
    answer<Response> call(const char* method, Request request)
    {
        return service_.call<Response>(method, std::move(request));
    }

    service_client service_;
};

} // namespace tempinbox::gateway
