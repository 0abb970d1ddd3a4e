#include "inbox/api/domain_rpc.hpp"

#include "common/rpc/inbox_methods.hpp"
#include "inbox/api/messages.hpp"
#include "mailbox/address_rules.hpp"

#include <algorithm>

namespace tempinbox::inbox {

void domain_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::add_domain, *this, &domain_rpc::add);
    server.add(inbox_methods::list_domains, *this, &domain_rpc::list);
    server.add(inbox_methods::set_subdomains, *this, &domain_rpc::set_subdomains);
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
    if (!domain)
        co_return domain.error();
    if (operator_account) {
        auto created = co_await inboxes_.create_operator_inboxes(*operator_account, *name);
        if (!created)
            co_return created.error();
        for (auto& each : *created)
            publisher_.publish(std::move(each.events));
    }
    v1::AddDomainResponse response;
    *response.mutable_domain() = to_message(*domain);
    co_return response;
}

awaitable<result<v1::ListDomainsResponse>> domain_rpc::list(v1::ListDomainsRequest request)
{
    std::optional<account_id> holder;
    if (request.has_account_id()) {
        const auto id = account_id::parse(request.account_id());
        if (!id)
            co_return id.error();
        holder = *id;
    }

    const auto domains = co_await domains_.list();
    v1::ListDomainsResponse response;
    for (const auto& domain : domains)
        *response.add_domains() = to_message(domain);
    if (!holder) {
        co_await note_held(response);
        co_return response;
    }
    for (const auto& name : co_await domains_.list_held(*holder)) {
        auto& held = *response.add_domains();
        held.set_domain(name);
        held.set_is_subdomain(true);
    }
    co_return response;
}

awaitable<void> domain_rpc::note_held(v1::ListDomainsResponse& response)
{
    const auto parents = co_await domains_.list_parents_of_held();
    for (auto& domain : *response.mutable_domains())
        domain.set_has_subdomains(std::find(parents.begin(), parents.end(), domain.domain()) !=
                                  parents.end());
}

awaitable<result<v1::SetSubdomainsResponse>>
domain_rpc::set_subdomains(v1::SetSubdomainsRequest request)
{
    const auto name = mailbox::parse_domain(request.domain());
    if (!name)
        co_return name.error();
    const auto changed = co_await domains_.set_subdomains(*name, request.takes_subdomains());
    if (!changed)
        co_return changed.error();
    v1::SetSubdomainsResponse response;
    *response.mutable_domain() = to_message(*changed);
    co_return response;
}

} // namespace tempinbox::inbox
