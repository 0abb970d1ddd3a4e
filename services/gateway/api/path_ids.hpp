#pragma once

#include "gateway/api/caller.hpp"
#include "gateway/api/query_reader.hpp"

namespace tempinbox::gateway {

// A request of another service with the account and the path's inboxId.
template <class Request>
result<Request> read_inbox_path(const http::request& received, const caller& who)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    Request wanted;
    wanted.set_account_id(who.account().text());
    wanted.set_inbox_id(id->text());
    return wanted;
}

// The same with the path's emailId.
template <class Request>
result<Request> read_email_path(const http::request& received, const caller& who)
{
    const auto id = email_id::parse(received.path_param("emailId"));
    if (!id)
        return id.error();
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    Request wanted;
    wanted.set_account_id(who.account().text());
    wanted.set_email_id(id->text());
    return wanted;
}

} // namespace tempinbox::gateway
