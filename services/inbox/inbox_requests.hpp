#pragma once

#include "mailbox/email_repository.hpp"
#include "mailbox/inbox_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// Parse and validate requests; failures name the field, what was given and what is allowed.
result<mailbox::new_inbox> read_new_inbox(const v1::CreateInboxRequest& request);
result<mailbox::inbox_filter> read_filter(const v1::ListInboxesRequest& request);
result<mailbox::inbox_change> read_change(const v1::UpdateInboxRequest& request);
result<mailbox::email_query> read_email_query(const v1::ListEmailsRequest& request);

// Whose inbox a request is about.
result<std::pair<account_id, inbox_id>> read_inbox_name(const std::string& account,
                                                        const std::string& inbox);
template <class Request>
result<std::pair<account_id, inbox_id>> read_inbox_name(const Request& request)
{
    return read_inbox_name(request.account_id(), request.inbox_id());
}

// 1–1,000 names.
result<std::vector<std::pair<account_id, inbox_id>>>
read_inbox_names(const google::protobuf::RepeatedPtrField<v1::InboxName>& names);

// Checks how many of something a request carries.
result<void> check_count(const char* field, int given, int max);

// Checks a tag by the rules for an inbox's tags.
result<void> check_tag(const std::string& tag);

// 1–100; 0 stands for 25.
result<int> read_limit(int given);

} // namespace tempinbox::inbox
