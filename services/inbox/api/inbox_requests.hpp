#pragma once

#include "mailbox/email_repository.hpp"
#include "mailbox/inbox_repository.hpp"
#include "mailbox/login_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <string>
#include <vector>

namespace tempinbox::inbox {

// Whose inboxes a request is about: all of an account, or those with a tag. Where the request has a
// tagged_account, this is what counts.
struct inbox_owner
{
    account_id account;
    std::optional<std::string> tag;
};
result<inbox_owner> read_owner(const std::string& account, const v1::TaggedAccount* tagged);
template <class Request>
result<inbox_owner> read_owner(const Request& request)
{
    return read_owner(request.account_id(),
                      request.has_tagged_account() ? &request.tagged_account() : nullptr);
}

// Parse and validate requests; failures name the field, what was given and what is allowed.
// `reserved_subdomains`: names of a catch-all's subdomain that are refused, beside the usual ones.
result<mailbox::new_inbox> read_new_inbox(const v1::CreateInboxRequest& request,
                                          const std::vector<std::string>& reserved_subdomains = {});
result<mailbox::new_login> read_new_login(const v1::NewLogin& login);
result<mailbox::login_rotation> read_rotation(const v1::RotateLoginRequest& request);
result<mailbox::inbox_filter> read_filter(const v1::ListInboxesRequest& request,
                                          const inbox_owner& owner);
result<mailbox::inbox_change> read_change(const v1::UpdateInboxRequest& request);
result<mailbox::email_filter> read_filter(const v1::EmailFilter& message);
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

// The tags that inboxes must have: the one asked for, and the owner's.
std::vector<std::string> tags_of(const std::optional<std::string>& tag, const inbox_owner& owner);

// 1–100; 0 stands for 25.
result<int> read_limit(int given);

} // namespace tempinbox::inbox
