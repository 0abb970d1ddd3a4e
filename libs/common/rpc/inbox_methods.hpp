#pragma once

#include "common/rpc/method.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

// What the inbox service is asked for, as client and server both name it.
namespace tempinbox::inbox_methods {

inline constexpr rpc::method<inbox::v1::CreateInboxRequest, inbox::v1::CreateInboxResponse>
    create_inbox{"tempinbox.inbox.v1.InboxService/CreateInbox"};
inline constexpr rpc::method<inbox::v1::GetInboxRequest, inbox::v1::GetInboxResponse> get_inbox{
    "tempinbox.inbox.v1.InboxService/GetInbox"};
inline constexpr rpc::method<inbox::v1::ListInboxesRequest, inbox::v1::ListInboxesResponse>
    list_inboxes{"tempinbox.inbox.v1.InboxService/ListInboxes"};
inline constexpr rpc::method<inbox::v1::DeleteInboxRequest, inbox::v1::DeleteInboxResponse>
    delete_inbox{rpc::only_once("tempinbox.inbox.v1.InboxService/DeleteInbox")};
inline constexpr rpc::method<inbox::v1::CountInboxesRequest, inbox::v1::CountInboxesResponse>
    count_inboxes{"tempinbox.inbox.v1.InboxService/CountInboxes"};
inline constexpr rpc::method<inbox::v1::UpdateInboxRequest, inbox::v1::UpdateInboxResponse>
    update_inbox{"tempinbox.inbox.v1.InboxService/UpdateInbox"};
inline constexpr rpc::method<inbox::v1::DeleteInboxesByTagRequest,
                             inbox::v1::DeleteInboxesByTagResponse>
    delete_inboxes_by_tag{rpc::only_once("tempinbox.inbox.v1.InboxService/DeleteInboxesByTag")};
inline constexpr rpc::method<inbox::v1::EmptyInboxRequest, inbox::v1::EmptyInboxResponse>
    empty_inbox{rpc::only_once("tempinbox.inbox.v1.InboxService/EmptyInbox")};
inline constexpr rpc::method<inbox::v1::CheckTagRequest, inbox::v1::CheckTagResponse> check_tag{
    "tempinbox.inbox.v1.InboxService/CheckTag"};
inline constexpr rpc::method<inbox::v1::ListRejectionsRequest, inbox::v1::ListRejectionsResponse>
    list_rejections{"tempinbox.inbox.v1.InboxService/ListRejections"};
inline constexpr rpc::method<inbox::v1::CreateLoginRequest, inbox::v1::CreateLoginResponse>
    create_login{"tempinbox.inbox.v1.InboxService/CreateLogin"};
inline constexpr rpc::method<inbox::v1::RotateLoginRequest, inbox::v1::RotateLoginResponse>
    rotate_login{"tempinbox.inbox.v1.InboxService/RotateLogin"};
inline constexpr rpc::method<inbox::v1::EndLoginRequest, inbox::v1::EndLoginResponse> end_login{
    rpc::only_once("tempinbox.inbox.v1.InboxService/EndLogin")};
inline constexpr rpc::method<inbox::v1::GetFaultsRequest, inbox::v1::GetFaultsResponse> get_faults{
    "tempinbox.inbox.v1.InboxService/GetFaults"};
inline constexpr rpc::method<inbox::v1::SetFaultsRequest, inbox::v1::SetFaultsResponse> set_faults{
    "tempinbox.inbox.v1.InboxService/SetFaults"};
inline constexpr rpc::method<inbox::v1::ClearFaultsRequest, inbox::v1::ClearFaultsResponse>
    clear_faults{"tempinbox.inbox.v1.InboxService/ClearFaults"};
inline constexpr rpc::method<inbox::v1::ClaimEndNoticesRequest, inbox::v1::ClaimEndNoticesResponse>
    claim_end_notices{"tempinbox.inbox.v1.InboxService/ClaimEndNotices"};
inline constexpr rpc::method<inbox::v1::SettleEndNoticeRequest, inbox::v1::SettleEndNoticeResponse>
    settle_end_notice{"tempinbox.inbox.v1.InboxService/SettleEndNotice"};
inline constexpr rpc::method<inbox::v1::GetSenderReportRequest, inbox::v1::GetSenderReportResponse>
    get_sender_report{"tempinbox.inbox.v1.InboxService/GetSenderReport"};
inline constexpr rpc::method<inbox::v1::ListEmailsRequest, inbox::v1::ListEmailsResponse>
    list_emails{"tempinbox.inbox.v1.InboxService/ListEmails", std::chrono::seconds(5), 8};
// On failure the caller reads the list as usual; that call reports the error.
inline constexpr rpc::method<inbox::v1::GetListVersionsRequest, inbox::v1::GetListVersionsResponse>
    get_list_versions{"tempinbox.inbox.v1.InboxService/GetListVersions", std::chrono::seconds(1)};
inline constexpr rpc::method<inbox::v1::GetEmailRequest, inbox::v1::GetEmailResponse> get_email{
    "tempinbox.inbox.v1.InboxService/GetEmail"};
inline constexpr rpc::method<inbox::v1::UpdateEmailRequest, inbox::v1::UpdateEmailResponse>
    update_email{"tempinbox.inbox.v1.InboxService/UpdateEmail"};
inline constexpr rpc::method<inbox::v1::DeleteEmailRequest, inbox::v1::DeleteEmailResponse>
    delete_email{rpc::only_once("tempinbox.inbox.v1.InboxService/DeleteEmail")};
inline constexpr rpc::method<inbox::v1::GetRawEmailRequest, inbox::v1::GetRawEmailResponse>
    get_raw_email{"tempinbox.inbox.v1.InboxService/GetRawEmail"};
inline constexpr rpc::method<inbox::v1::GetAttachmentRequest, inbox::v1::GetAttachmentResponse>
    get_attachment{"tempinbox.inbox.v1.InboxService/GetAttachment"};
inline constexpr rpc::method<inbox::v1::CountEmailsRequest, inbox::v1::CountEmailsResponse>
    count_emails{"tempinbox.inbox.v1.InboxService/CountEmails"};
inline constexpr rpc::method<inbox::v1::GetEmailArrivalRequest, inbox::v1::GetEmailArrivalResponse>
    get_email_arrival{"tempinbox.inbox.v1.InboxService/GetEmailArrival"};
inline constexpr rpc::method<inbox::v1::AddDomainRequest, inbox::v1::AddDomainResponse> add_domain{
    "tempinbox.inbox.v1.InboxService/AddDomain"};
inline constexpr rpc::method<inbox::v1::ListDomainsRequest, inbox::v1::ListDomainsResponse>
    list_domains{"tempinbox.inbox.v1.InboxService/ListDomains"};
inline constexpr rpc::method<inbox::v1::SetSubdomainsRequest, inbox::v1::SetSubdomainsResponse>
    set_subdomains{"tempinbox.inbox.v1.InboxService/SetSubdomains"};
inline constexpr rpc::method<inbox::v1::GetEmailSummariesRequest,
                             inbox::v1::GetEmailSummariesResponse>
    get_email_summaries{"tempinbox.inbox.v1.InboxService/GetEmailSummaries"};
inline constexpr rpc::method<inbox::v1::FindFirstEmailsRequest, inbox::v1::FindFirstEmailsResponse>
    find_first_emails{"tempinbox.inbox.v1.InboxService/FindFirstEmails"};
inline constexpr rpc::method<inbox::v1::GetLastSequencesRequest,
                             inbox::v1::GetLastSequencesResponse>
    get_last_sequences{"tempinbox.inbox.v1.InboxService/GetLastSequences"};

} // namespace tempinbox::inbox_methods
