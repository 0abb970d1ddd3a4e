#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/memory_budget.hpp"
#include "common/rpc/server.hpp"
#include "inbox/email_reader.hpp"
#include "inbox/mail_reader.hpp"
#include "mailbox/email_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// RPC handlers for emails.
class email_rpc
{
public:
    email_rpc(mailbox::email_repository& emails, mail_reader& reader, email_reader& texts);

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::ListEmailsResponse>> list(v1::ListEmailsRequest request);
    awaitable<result<v1::GetListVersionsResponse>>
    list_versions(v1::GetListVersionsRequest request);
    awaitable<result<v1::GetEmailResponse>> get(v1::GetEmailRequest request);
    awaitable<result<v1::UpdateEmailResponse>> update(v1::UpdateEmailRequest request);
    awaitable<result<v1::DeleteEmailResponse>> remove(v1::DeleteEmailRequest request);
    awaitable<result<v1::EmptyInboxResponse>> empty(v1::EmptyInboxRequest request);
    awaitable<result<v1::GetRawEmailResponse>> get_raw(v1::GetRawEmailRequest request);
    awaitable<result<v1::GetAttachmentResponse>> get_attachment(v1::GetAttachmentRequest request);
    awaitable<result<v1::GetEmailArrivalResponse>> get_arrival(v1::GetEmailArrivalRequest request);

    awaitable<result<v1::ListEmailsResponse>>
    add_texts(account_id account, v1::ListEmailsResponse page, std::int64_t max_bytes);
    // The email's text; absent if it has none or was deleted meanwhile.
    awaitable<result<std::optional<std::string>>> find_text(account_id account, email_id id);

    mailbox::email_repository& emails_;
    mail_reader& reader_;
    email_reader& texts_;
    memory_budget memory_; // for whole messages that are being sent
};

} // namespace tempinbox::inbox
