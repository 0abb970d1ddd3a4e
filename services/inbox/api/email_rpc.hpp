#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/memory_budget.hpp"
#include "common/rpc/server.hpp"
#include "common/runtime/host.hpp"
#include "inbox/lifecycle/renewal.hpp"
#include "inbox/reading/email_reader.hpp"
#include "inbox/reading/message_search.hpp"
#include "mailbox/email_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// RPC handlers for emails.
class email_rpc
{
public:
    email_rpc(runtime::host& host, mailbox::email_repository& emails, email_reader& texts,
              message_search& search, renewal& renewals);

    void add_to(rpc::server& server);

private:
    using email_name = std::pair<account_id, email_id>;
    struct account_of
    {
        account_id operator()(const mailbox::email_mark& mark) const { return mark.account; }
        account_id operator()(const email_name& name) const { return name.first; }
        account_id operator()(const mailbox::email_query& query) const { return query.account; }
    };

    awaitable<result<v1::ListEmailsResponse>> list(v1::ListEmailsRequest request);
    awaitable<result<v1::GetListVersionsResponse>>
    list_versions(v1::GetListVersionsRequest request);
    awaitable<result<v1::GetEmailSummariesResponse>>
    get_summaries(v1::GetEmailSummariesRequest request);
    awaitable<result<v1::GetEmailResponse>> get(v1::GetEmailRequest request);
    awaitable<result<v1::UpdateEmailResponse>> update(v1::UpdateEmailRequest request);
    awaitable<result<v1::DeleteEmailResponse>> remove(v1::DeleteEmailRequest request);
    awaitable<result<v1::EmptyInboxResponse>> empty(v1::EmptyInboxRequest request);
    awaitable<result<v1::GetRawEmailResponse>> get_raw(v1::GetRawEmailRequest request);
    awaitable<result<v1::GetAttachmentResponse>> get_attachment(v1::GetAttachmentRequest request);
    awaitable<result<v1::GetEmailArrivalResponse>> get_arrival(v1::GetEmailArrivalRequest request);
    awaitable<result<v1::CountEmailsResponse>> count(v1::CountEmailsRequest request);

    awaitable<result<searched_page>> read_page(mailbox::email_query query);
    awaitable<result<std::vector<v1::Links>>> read_links(const mailbox::email_query& query,
                                                         mailbox::email_page& page);
    awaitable<result<v1::ListEmailsResponse>> add_texts(account_id account,
                                                        v1::ListEmailsResponse page,
                                                        std::int64_t max_bytes,
                                                        std::int64_t bytes_of_links);

    mailbox::email_repository& emails_;
    email_reader& texts_;
    message_search& search_;
    renewal& renewal_;
    memory_budget memory_; // for whole messages that are being sent
    async::batcher<mailbox::email_query, result<mailbox::email_page>, async::unit_item_weight,
                   account_of>
        lists_;
    async::batcher<mailbox::email_mark, result<mailbox::email_summary>, async::unit_item_weight,
                   account_of>
        marks_;
    async::batcher<email_name, result<void>, async::unit_item_weight, account_of> removals_;
};

} // namespace tempinbox::inbox
