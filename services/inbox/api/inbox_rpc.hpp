#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/rpc/server.hpp"
#include "inbox/lifecycle/expiry.hpp"
#include "inbox/lifecycle/inbox_creator.hpp"
#include "inbox/lifecycle/partition_maintenance.hpp"
#include "inbox/lifecycle/renewal.hpp"
#include "mailbox/inbox_repository.hpp"
#include "mailbox/login_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

#include <string>
#include <vector>

namespace tempinbox::inbox {

// RPC handlers for inboxes.
class inbox_rpc
{
public:
    inbox_rpc(runtime::host& host, mailbox::inbox_repository& inboxes,
              mailbox::login_repository& logins, expiry& ending, outbox::publisher& publisher,
              partition_maintenance& partitions, renewal& renewals, mailbox::inbox_bounds bounds,
              std::vector<std::string> reserved_subdomains);

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::CreateInboxResponse>> create(v1::CreateInboxRequest request);
    awaitable<result<v1::GetInboxResponse>> get(v1::GetInboxRequest request);
    awaitable<result<v1::ListInboxesResponse>> list(v1::ListInboxesRequest request);
    awaitable<result<v1::DeleteInboxResponse>> remove(v1::DeleteInboxRequest request);
    awaitable<result<v1::DeleteInboxesByTagResponse>>
    remove_tagged(v1::DeleteInboxesByTagRequest request);
    awaitable<result<v1::UpdateInboxResponse>> update(v1::UpdateInboxRequest request);
    awaitable<result<v1::CheckTagResponse>> check_tag(v1::CheckTagRequest request);
    awaitable<result<v1::CountInboxesResponse>> count(v1::CountInboxesRequest request);
    awaitable<result<v1::ListRejectionsResponse>>
    list_rejections(v1::ListRejectionsRequest request);
    awaitable<result<v1::CreateLoginResponse>> create_login(v1::CreateLoginRequest request);
    awaitable<result<v1::RotateLoginResponse>> rotate_login(v1::RotateLoginRequest request);
    awaitable<result<v1::EndLoginResponse>> end_login(v1::EndLoginRequest request);

    const clock_source& clock_;
    mailbox::inbox_repository& inboxes_;
    mailbox::login_repository& logins_;
    expiry& expiry_;
    outbox::publisher& publisher_;
    partition_maintenance& partitions_;
    renewal& renewal_;
    mailbox::inbox_bounds bounds_;
    std::vector<std::string> reserved_subdomains_;
    inbox_creator creator_;
};

} // namespace tempinbox::inbox
