#pragma once

#include "common/core/awaitable.hpp"
#include "common/rpc/server.hpp"
#include "inbox/mail_reader.hpp"
#include "mailbox/email_store.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// The calls about emails.
class email_calls
{
public:
    email_calls(mailbox::email_store& emails, mail_reader& reader) : emails_(emails), reader_(reader) {}

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::ListEmailsResponse>> list(v1::ListEmailsRequest request);
    awaitable<result<v1::GetEmailResponse>> get(v1::GetEmailRequest request);

    mailbox::email_store& emails_;
    mail_reader& reader_;
};

} // namespace tempinbox::inbox
