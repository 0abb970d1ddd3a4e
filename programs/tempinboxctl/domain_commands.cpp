#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/rpc/inbox_methods.hpp"
#include "tempinboxctl/session.hpp"

#include "tempinbox/inbox/v1/inbox_service.pb.h"

namespace tempinbox::ctl {
namespace {

record to_record(const inbox::v1::Domain& shown)
{
    record fields;
    fields.add("domain", shown.domain())
        .add("isDefault", shown.is_default())
        .add("takesSubdomains", shown.takes_subdomains());
    return fields;
}

awaitable<result<command_result>> add(session& suite, arguments given)
{
    inbox::v1::AddDomainRequest request;
    request.set_domain(given.at("DOMAIN"));
    if (const auto named = given.value("operator")) {
        const auto account = co_await suite.find_account(*named);
        if (!account)
            co_return account.error();
        request.set_operator_account_id(account->id().text());
    }
    const auto added = co_await suite.inbox().call(inbox_methods::add_domain, request);
    if (!added)
        co_return added.error();
    co_return command_result(to_record(added->domain()));
}

awaitable<result<command_result>> set(session& suite, arguments given)
{
    const auto word = given.value("subdomains").value_or("");
    if (word != "on" && word != "off")
        co_return failure{errc::invalid_argument,
                          "--subdomains must be on or off, not " + quote(word)};
    inbox::v1::SetSubdomainsRequest request;
    request.set_domain(given.at("DOMAIN"));
    request.set_takes_subdomains(word == "on");
    const auto changed = co_await suite.inbox().call(inbox_methods::set_subdomains, request);
    if (!changed)
        co_return changed.error();
    co_return command_result(to_record(changed->domain()));
}

awaitable<result<command_result>> list(session& suite, arguments)
{
    const inbox::v1::ListDomainsRequest request;
    const auto found = co_await suite.inbox().call(inbox_methods::list_domains, request);
    if (!found)
        co_return found.error();
    std::vector<record> all;
    for (const auto& domain : found->domains())
        all.push_back(to_record(domain));
    co_return command_result("domains", std::move(all));
}

} // namespace

std::vector<command> domain_commands()
{
    std::vector<command> commands;
    auto& adding = commands.emplace_back("domain add",
                                         "Accepts mail for a domain; the first one is the default");
    adding.positionals.emplace_back("DOMAIN", "the domain");
    adding.options.emplace_back(
        "operator", "ACCOUNT",
        "account that gets postmaster@ and abuse@ of it, as inboxes that never expire",
        option::kind::optional);
    adding.run = add;

    auto& setting = commands.emplace_back("domain set", "Changes what a domain is used for");
    setting.positionals.emplace_back("DOMAIN", "the domain");
    setting.options.emplace_back("subdomains", "on|off",
                                 "whether accounts may have catch-alls, each on a name below it "
                                 "that it alone holds; those that there are stay",
                                 option::kind::required);
    setting.run = set;

    auto& listing = commands.emplace_back("domain list", "Lists the domains an inbox can use");
    listing.run = list;
    return commands;
}

} // namespace tempinbox::ctl
