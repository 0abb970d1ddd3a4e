#pragma once

#include "common/core/awaitable.hpp"
#include "webhook-dispatcher/delivery/engine.hpp"
#include "webhook-dispatcher/endpoints/address_policy.hpp"

#include "common/http/client.hpp"

#include <string>

namespace tempinbox::webhooks {

// A response, or the lack of one, in the form that judge() takes.
exchange_result read_exchange(const http::client_response& response);

// The headers of Standard Webhooks and our own. Each attempt is signed anew; the id is always the
// event's.
http::header_list make_headers(const delivery_job& job, time_point now);

// Sends over the network. Dials only what the policy allows, follows no redirects. `ca_file` is
// read again when it changes.
class http_sender
{
public:
    http_sender(runtime::host& host, address_policy policy, http::resolver resolve,
                std::string ca_file);
    awaitable<sent_request> send(delivery_job job);

private:
    runtime::host& host_;
    http::client client_;
    runtime::file_watch::subscription ca_file_; // trusted by the client
};

} // namespace tempinbox::webhooks
