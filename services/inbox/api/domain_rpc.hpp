#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/rpc/server.hpp"
#include "mailbox/domain_repository.hpp"
#include "mailbox/inbox_repository.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::inbox {

// RPC handlers for domains.
class domain_rpc
{
public:
    domain_rpc(mailbox::domain_repository& domains, mailbox::inbox_repository& inboxes,
               outbox::publisher& publisher)
        : domains_(domains),
          inboxes_(inboxes),
          publisher_(publisher)
    {}

    void add_to(rpc::server& server);

private:
    awaitable<result<v1::AddDomainResponse>> add(v1::AddDomainRequest request);
    awaitable<result<v1::ListDomainsResponse>> list(v1::ListDomainsRequest request);
    awaitable<void> note_held(v1::ListDomainsResponse& response);
    awaitable<result<v1::SetSubdomainsResponse>> set_subdomains(v1::SetSubdomainsRequest request);

    mailbox::domain_repository& domains_;
    mailbox::inbox_repository& inboxes_;
    outbox::publisher& publisher_;
};

} // namespace tempinbox::inbox
