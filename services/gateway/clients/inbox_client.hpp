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
    using awaitable_result = awaitable<result<T>>;

    awaitable_result<inbox::v1::CreateInboxResponse> create(inbox::v1::CreateInboxRequest request)
    {
        return call<inbox::v1::CreateInboxResponse>("tempinbox.inbox.v1.InboxService/CreateInbox",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::GetInboxResponse> find(inbox::v1::GetInboxRequest request)
    {
        return call<inbox::v1::GetInboxResponse>("tempinbox.inbox.v1.InboxService/GetInbox",
                                                 std::move(request));
    }
    awaitable_result<inbox::v1::ListInboxesResponse> list(inbox::v1::ListInboxesRequest request)
    {
        return call<inbox::v1::ListInboxesResponse>("tempinbox.inbox.v1.InboxService/ListInboxes",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::DeleteInboxResponse> remove(inbox::v1::DeleteInboxRequest request)
    {
        return call<inbox::v1::DeleteInboxResponse>("tempinbox.inbox.v1.InboxService/DeleteInbox",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::CountInboxesResponse> count(inbox::v1::CountInboxesRequest request)
    {
        return call<inbox::v1::CountInboxesResponse>("tempinbox.inbox.v1.InboxService/CountInboxes",
                                                     std::move(request));
    }
    awaitable_result<inbox::v1::ListEmailsResponse>
    list_emails(inbox::v1::ListEmailsRequest request)
    {
        return call<inbox::v1::ListEmailsResponse>("tempinbox.inbox.v1.InboxService/ListEmails",
                                                   std::move(request));
    }
    // On failure the caller reads the list as usual; that call reports the error.
    awaitable_result<inbox::v1::GetListVersionsResponse>
    list_versions(inbox::v1::GetListVersionsRequest request)
    {
        return service_.try_call<inbox::v1::GetListVersionsResponse>(
            "tempinbox.inbox.v1.InboxService/GetListVersions", std::move(request),
            version_deadline);
    }
    awaitable_result<inbox::v1::GetEmailResponse> find_email(inbox::v1::GetEmailRequest request)
    {
        return call<inbox::v1::GetEmailResponse>("tempinbox.inbox.v1.InboxService/GetEmail",
                                                 std::move(request));
    }
    awaitable_result<inbox::v1::UpdateInboxResponse> change(inbox::v1::UpdateInboxRequest request)
    {
        return call<inbox::v1::UpdateInboxResponse>("tempinbox.inbox.v1.InboxService/UpdateInbox",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::DeleteInboxesByTagResponse>
    remove_tagged(inbox::v1::DeleteInboxesByTagRequest request)
    {
        return call<inbox::v1::DeleteInboxesByTagResponse>(
            "tempinbox.inbox.v1.InboxService/DeleteInboxesByTag", std::move(request));
    }
    awaitable_result<inbox::v1::EmptyInboxResponse> empty(inbox::v1::EmptyInboxRequest request)
    {
        return call<inbox::v1::EmptyInboxResponse>("tempinbox.inbox.v1.InboxService/EmptyInbox",
                                                   std::move(request));
    }
    awaitable_result<inbox::v1::UpdateEmailResponse>
    update_email(inbox::v1::UpdateEmailRequest request)
    {
        return call<inbox::v1::UpdateEmailResponse>("tempinbox.inbox.v1.InboxService/UpdateEmail",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::DeleteEmailResponse>
    remove_email(inbox::v1::DeleteEmailRequest request)
    {
        return call<inbox::v1::DeleteEmailResponse>("tempinbox.inbox.v1.InboxService/DeleteEmail",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::GetRawEmailResponse> find_raw(inbox::v1::GetRawEmailRequest request)
    {
        return call<inbox::v1::GetRawEmailResponse>("tempinbox.inbox.v1.InboxService/GetRawEmail",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::GetAttachmentResponse>
    find_attachment(inbox::v1::GetAttachmentRequest request)
    {
        return call<inbox::v1::GetAttachmentResponse>(
            "tempinbox.inbox.v1.InboxService/GetAttachment", std::move(request));
    }
    awaitable_result<inbox::v1::CountEmailsResponse>
    count_emails(inbox::v1::CountEmailsRequest request)
    {
        return call<inbox::v1::CountEmailsResponse>("tempinbox.inbox.v1.InboxService/CountEmails",
                                                    std::move(request));
    }
    awaitable_result<inbox::v1::ListDomainsResponse> list_domains()
    {
        return call<inbox::v1::ListDomainsResponse>("tempinbox.inbox.v1.InboxService/ListDomains",
                                                    inbox::v1::ListDomainsRequest());
    }
    awaitable_result<inbox::v1::FindFirstEmailsResponse>
    find_first_emails(inbox::v1::FindFirstEmailsRequest request)
    {
        return call<inbox::v1::FindFirstEmailsResponse>(
            "tempinbox.inbox.v1.InboxService/FindFirstEmails", std::move(request));
    }
    awaitable_result<inbox::v1::GetLastSequencesResponse>
    last_sequences(inbox::v1::GetLastSequencesRequest request)
    {
        return call<inbox::v1::GetLastSequencesResponse>(
            "tempinbox.inbox.v1.InboxService/GetLastSequences", std::move(request));
    }

private:
    static constexpr std::chrono::seconds version_deadline{1};

    template <class Response, class Request>
    awaitable_result<Response> call(const char* method, Request request)
    {
        return service_.call<Response>(method, std::move(request));
    }

    service_client service_;
};

} // namespace tempinbox::gateway
