#include "inbox/api/domain_rpc.hpp"

#include "common/rpc/inbox_methods.hpp"
#include "inbox/api/messages.hpp"
#include "mailbox/address_rules.hpp"

namespace tempinbox::inbox {

void domain_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::add_domain, *this, &domain_rpc::add);
    server.add(inbox_methods::list_domains,
               [this](const v1::ListDomainsRequest&) { return list(); });
}

awaitable<result<v1::AddDomainResponse>> domain_rpc::add(v1::AddDomainRequest request)
{
    const auto name = mailbox::parse_domain(request.domain());
    if (!name)
        co_return name.error();
    std::optional<account_id> operator_account;
    if (request.has_operator_account_id()) {
        const auto id = account_id::parse(request.operator_account_id());
        if (!id)
            co_return id.error();
        operator_account = *id;
    }

    const auto domain = co_await domains_.add(*name, operator_account);
    if (operator_account) {
        auto created = co_await inboxes_.create_operator_inboxes(*operator_account, *name);
        if (!created)
            co_return created.error();
        for (auto& each : *created)
            publisher_.publish(std::move(each.events));
    }
    v1::AddDomainResponse response;
    *response.mutable_domain() = to_message(domain);
    co_return response;
}

awaitable<result<v1::ListDomainsResponse>> domain_rpc::list()
{
    const auto domains = co_await domains_.list();
    v1::ListDomainsResponse response;
    for (const auto& domain : domains)
        *response.add_domains() = to_message(domain);
    co_return response;
}

} // namespace tempinbox::inbox
