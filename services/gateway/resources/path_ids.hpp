#pragma once

#include "gateway/pipeline/query_reader.hpp"
#include "gateway/routes/caller.hpp"

namespace tempinbox::gateway {

// Builds an RPC request with the caller's account and an id from the path, which `put` sets.
template <class Request, class Id, class Put>
result<Request> read_path_id(const http::request& received, const caller& who, const char* name,
                             Put put)
{
    const auto id = Id::parse(received.path_param(name));
    if (!id)
        return id.error();
    Request request;
    request.set_account_id(who.account().text());
    put(request, id->text());
    return request;
}

// For operations without parameters: the request read from the path, or an error if the URL has a
// query.
template <class Request>
result<Request> without_query(const http::request& received, result<Request> request)
{
    if (!request)
        return request;
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    return request;
}

template <class Request>
result<Request> read_inbox_path(const http::request& received, const caller& who)
{
    return read_path_id<Request, inbox_id>(
        received, who, "inboxId",
        [](Request& request, const std::string& id) { request.set_inbox_id(id); });
}

template <class Request>
result<Request> read_email_path(const http::request& received, const caller& who)
{
    return read_path_id<Request, email_id>(
        received, who, "emailId",
        [](Request& request, const std::string& id) { request.set_email_id(id); });
}

template <class Request>
result<Request> read_webhook_path(const http::request& received, const caller& who)
{
    return read_path_id<Request, webhook_id>(
        received, who, "webhookId",
        [](Request& request, const std::string& id) { request.set_webhook_id(id); });
}

template <class Request>
result<Request> read_rule_path(const http::request& received, const caller& who)
{
    return read_path_id<Request, rule_id>(
        received, who, "ruleId",
        [](Request& request, const std::string& id) { request.set_rule_id(id); });
}

} // namespace tempinbox::gateway
