#include "tempinboxctl/command.hpp"

#include "common/rpc/webhook_methods.hpp"
#include "tempinboxctl/session.hpp"

#include "tempinbox/webhooks/v1/webhook_service.pb.h"

namespace tempinbox::ctl {
namespace {

using namespace webhooks::v1;

constexpr int page_size = 100;

record to_record(const Webhook& shown)
{
    record fields;
    fields.add("webhookId", shown.webhook_id()).add("url", shown.url());
    fields.add("events", std::vector<std::string>(shown.events().begin(), shown.events().end()));
    fields.add("description", shown.description()).add("isEnabled", shown.is_enabled());
    fields.add("disabledReason", shown.has_disabled_reason()
                                     ? record::field(shown.disabled_reason())
                                     : record::field());
    fields.add_time("createdAt", from_unix_micros(shown.created_at().seconds() * 1'000'000 +
                                                  shown.created_at().nanos() / 1'000));
    return fields;
}

awaitable<result<command_result>> create(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    CreateWebhookRequest request;
    *request.mutable_account() = plans::to_proto(account->state);
    request.set_webhook_id(webhook_id::make().text());
    request.set_url(*given.value("url"));
    for (const auto& event : given.values("event"))
        request.add_events(event);
    request.set_description(given.value("description").value_or(""));
    const auto created =
        co_await suite.webhook_dispatcher().call(webhook_methods::create_webhook, request);
    if (!created)
        co_return created.error();
    auto fields = to_record(created->webhook());
    fields.add("secret", created->secret());
    co_return command_result(std::move(fields));
}

awaitable<result<command_result>> list(session& suite, arguments given)
{
    const auto account = co_await suite.find_account(given.at("ACCOUNT"));
    if (!account)
        co_return account.error();
    std::vector<record> all;
    ListWebhooksRequest request;
    request.set_account_id(account->id().text());
    request.set_limit(page_size);
    bool has_more = true;
    while (has_more) {
        const auto page =
            co_await suite.webhook_dispatcher().call(webhook_methods::list_webhooks, request);
        if (!page)
            co_return page.error();
        for (const auto& webhook : page->webhooks())
            all.push_back(to_record(webhook));
        request.set_cursor(page->next_cursor());
        has_more = !page->next_cursor().empty();
    }
    co_return command_result("webhooks", std::move(all));
}

} // namespace

std::vector<command> webhook_commands()
{
    const positional account("ACCOUNT", "id or email address of the account");
    std::vector<command> commands;

    auto& creating = commands.emplace_back(
        "webhook create", "Registers an endpoint; this is the only time its secret is shown");
    creating.positionals.push_back(account);
    creating.options.emplace_back("url", "URL", "where events are sent", option::kind::required);
    creating.options.emplace_back(
        "event", "E", "email.received, inbox.created or inbox.expired; without it all three",
        option::kind::repeated);
    creating.options.emplace_back("description", "D", "what the endpoint is for",
                                  option::kind::optional);
    creating.run = create;

    auto& listing =
        commands.emplace_back("webhook list", "Lists an account's endpoints, newest first");
    listing.positionals.push_back(account);
    listing.run = list;
    return commands;
}

} // namespace tempinbox::ctl
