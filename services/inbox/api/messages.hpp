#pragma once

#include "mailbox/domain_repository.hpp"
#include "mailbox/rejection.hpp"
#include "mailbox/types.hpp"
#include "mime/view.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// Conversions from store types to RPC messages.
v1::Inbox to_message(const mailbox::inbox& inbox, const mailbox::inbox_bounds& bounds);
v1::Login to_message(const mailbox::capture_login& login);
v1::Rejection to_message(const mailbox::rejection& rejection);
v1::EmailSummary to_message(const mailbox::email_summary& email);
v1::Links to_message(const std::vector<extract::link>& links);
v1::Attachment to_message(const mime::attachment& part);
v1::Email to_message(const mailbox::stored_email& email, const mime::view& view,
                     bool with_text_and_html = true);
v1::GetEmailArrivalResponse to_message(const mailbox::email_arrival& arrival);
v1::Domain to_message(const mailbox::domain& domain);

} // namespace tempinbox::inbox
