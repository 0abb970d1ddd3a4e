#include "gateway/resources/operations.hpp"

#include "gateway/resources/account.hpp"
#include "gateway/resources/captures.hpp"
#include "gateway/resources/deliveries.hpp"
#include "gateway/resources/email_content.hpp"
#include "gateway/resources/emails.hpp"
#include "gateway/resources/faults.hpp"
#include "gateway/resources/inbox_changes.hpp"
#include "gateway/resources/inboxes.hpp"
#include "gateway/resources/timeline.hpp"
#include "gateway/resources/usage.hpp"
#include "gateway/resources/wait.hpp"
#include "gateway/resources/webhooks.hpp"

namespace tempinbox::gateway {
namespace {

using accounts::scope;

// An operation that calls one client.
template <class Client>
api_handler on(Client& client,
               awaitable<http::response> (*handle)(const http::request&, const caller&, Client&))
{
    return [&client, handle](const http::request& received, const caller& who) {
        return handle(received, who, client);
    };
}

// An operation on inboxes that shows or makes logins.
api_handler on(inbox_client& inboxes, const capture_server& server,
               awaitable<http::response> (*handle)(const http::request&, const caller&,
                                                   inbox_client&, const capture_server&))
{
    return [&inboxes, server, handle](const http::request& received, const caller& who) {
        return handle(received, who, inboxes, server);
    };
}

// An operation whose response can be large: it reserves memory before it reads.
api_handler content(inbox_client& inboxes, response_budget& memory,
                    awaitable<http::response> (*handle)(const http::request&, const caller&,
                                                        inbox_client&, response_budget&))
{
    return [&inboxes, &memory, handle](const http::request& received, const caller& who) {
        return handle(received, who, inboxes, memory);
    };
}

void add_inboxes(std::vector<route>& all, const std::string& root,
                 const operation_services& services)
{
    auto& inboxes = services.inboxes;
    const auto& server = services.captures;
    const auto list = [&inboxes, &lists = services.lists, &memory = services.response_memory](
                          const http::request& received, const caller& who) {
        return list_inbox_emails(received, who, inboxes, lists, memory);
    };
    const auto wait = [&long_polls = services.long_polls, &inboxes,
                       &memory = services.response_memory](http::request& received,
                                                           const caller& who) {
        return wait_for_email(received, who, long_polls, inboxes, memory);
    };
    all.emplace_back("GET", root + "/inboxes", scope::inboxes_read, body_kind::none,
                     on(inboxes, server, list_inboxes));
    all.emplace_back("POST", root + "/inboxes", scope::inboxes_write, body_kind::json,
                     on(inboxes, server, create_inbox), on(inboxes, server, check_new_inbox));
    all.emplace_back("POST", root + "/inboxes:batch", scope::inboxes_write, body_kind::json,
                     on(inboxes, server, create_inboxes), on(inboxes, server, check_new_inboxes));
    all.emplace_back("DELETE", root + "/inboxes", scope::inboxes_write, body_kind::none,
                     on(inboxes, delete_tagged_inboxes));
    all.emplace_back("GET", root + "/inboxes/{inboxId}", scope::inboxes_read, body_kind::none,
                     on(inboxes, server, get_inbox));
    all.emplace_back("PATCH", root + "/inboxes/{inboxId}", scope::inboxes_write,
                     body_kind::merge_patch, on(inboxes, server, update_inbox));
    all.emplace_back("DELETE", root + "/inboxes/{inboxId}", scope::inboxes_write, body_kind::none,
                     on(inboxes, delete_inbox));
    all.emplace_back("GET", root + "/inboxes/{inboxId}/emails", scope::emails_read, body_kind::none,
                     list);
    all.emplace_back("DELETE", root + "/inboxes/{inboxId}/emails", scope::emails_write,
                     body_kind::none, on(inboxes, empty_inbox));
    all.emplace_back("GET", root + "/inboxes/{inboxId}/emails/wait", scope::emails_read,
                     body_kind::none, wait);
    all.emplace_back("GET", root + "/inboxes/{inboxId}/rejections", scope::emails_read,
                     body_kind::none, on(inboxes, list_rejections));
    all.emplace_back("POST", root + "/inboxes/{inboxId}/capture", scope::inboxes_write,
                     body_kind::json, on(inboxes, server, create_login),
                     on(inboxes, server, check_new_login));
    all.emplace_back("POST", root + "/inboxes/{inboxId}/capture/rotate", scope::inboxes_write,
                     body_kind::json, on(inboxes, server, rotate_login),
                     on(inboxes, server, check_login_rotation));
    all.emplace_back("DELETE", root + "/inboxes/{inboxId}/capture", scope::inboxes_write,
                     body_kind::none, on(inboxes, end_login));
    all.emplace_back("GET", root + "/inboxes/{inboxId}/faults", scope::inboxes_read,
                     body_kind::none, on(inboxes, get_faults));
    all.emplace_back("PUT", root + "/inboxes/{inboxId}/faults", scope::inboxes_write,
                     body_kind::json, on(inboxes, set_faults));
    all.emplace_back("DELETE", root + "/inboxes/{inboxId}/faults", scope::inboxes_write,
                     body_kind::none, on(inboxes, clear_faults));
    all.emplace_back("GET", root + "/inboxes/{inboxId}/sender-report", scope::emails_read,
                     body_kind::none, on(inboxes, get_sender_report));
    all.emplace_back("GET", root + "/domains", required_scope::any(), body_kind::none,
                     on(inboxes, list_domains));
}

void add_emails(std::vector<route>& all, const std::string& root, inbox_client& inboxes,
                webhook_client& webhooks, response_budget& memory)
{
    const auto read = [&inboxes, &webhooks, &memory](const http::request& received,
                                                     const caller& who) {
        return get_email(received, who, inboxes, webhooks, memory);
    };
    const auto timeline = [&inboxes, &webhooks, &memory](const http::request& received,
                                                         const caller& who) {
        return get_email_timeline(received, who, inboxes, webhooks, memory);
    };
    all.emplace_back("GET", root + "/emails", scope::emails_read, body_kind::none,
                     content(inboxes, memory, list_emails));
    all.emplace_back("GET", root + "/emails/{emailId}", scope::emails_read, body_kind::none, read);
    all.emplace_back("PATCH", root + "/emails/{emailId}", scope::emails_write,
                     body_kind::merge_patch, on(inboxes, update_email));
    all.emplace_back("DELETE", root + "/emails/{emailId}", scope::emails_write, body_kind::none,
                     on(inboxes, delete_email));
    all.emplace_back("GET", root + "/emails/{emailId}/raw", scope::emails_read, body_kind::none,
                     content(inboxes, memory, get_raw_email));
    all.emplace_back("GET", root + "/emails/{emailId}/timeline", scope::emails_read,
                     body_kind::none, timeline);
    all.emplace_back("GET", root + "/emails/{emailId}/attachments/{attachmentId}",
                     scope::emails_read, body_kind::none, content(inboxes, memory, get_attachment));
}

void add_webhooks(std::vector<route>& all, const std::string& root, webhook_client& webhooks)
{
    all.emplace_back("GET", root + "/webhooks", scope::webhooks_read, body_kind::none,
                     on(webhooks, list_webhooks));
    all.emplace_back("POST", root + "/webhooks", scope::webhooks_write, body_kind::json,
                     on(webhooks, create_webhook), on(webhooks, check_new_webhook));
    all.emplace_back("GET", root + "/webhooks/{webhookId}", scope::webhooks_read, body_kind::none,
                     on(webhooks, get_webhook));
    all.emplace_back("PATCH", root + "/webhooks/{webhookId}", scope::webhooks_write,
                     body_kind::merge_patch, on(webhooks, update_webhook));
    all.emplace_back("DELETE", root + "/webhooks/{webhookId}", scope::webhooks_write,
                     body_kind::none, on(webhooks, delete_webhook));
    all.emplace_back("POST", root + "/webhooks/{webhookId}/rotate-secret", scope::webhooks_write,
                     body_kind::json, on(webhooks, rotate_webhook_secret),
                     on(webhooks, check_rotation));
}

void add_deliveries(std::vector<route>& all, const std::string& root, webhook_client& webhooks)
{
    all.emplace_back("POST", root + "/webhooks/{webhookId}/test", scope::webhooks_write,
                     body_kind::json, on(webhooks, test_webhook), on(webhooks, check_webhook_test));
    all.emplace_back("GET", root + "/webhooks/{webhookId}/deliveries", scope::webhooks_read,
                     body_kind::none, on(webhooks, list_deliveries));
    all.emplace_back("GET", root + "/webhooks/{webhookId}/deliveries/{deliveryId}",
                     scope::webhooks_read, body_kind::none, on(webhooks, get_delivery));
    all.emplace_back("POST", root + "/webhooks/{webhookId}/deliveries/{deliveryId}/retry",
                     scope::webhooks_write, body_kind::json, on(webhooks, retry_delivery),
                     on(webhooks, check_retry));
    all.emplace_back("POST", root + "/webhooks/{webhookId}/replay", scope::webhooks_write,
                     body_kind::json, on(webhooks, replay_deliveries), on(webhooks, check_replay));
}

void add_account(std::vector<route>& all, const std::string& root,
                 const operation_services& services)
{
    const auto account = [services](const http::request& received, const caller& who) {
        return get_account(received, who, services.accounts, services.inboxes, services.webhooks,
                           services.quotas);
    };
    const auto usage = [services](const http::request& received, const caller& who) {
        return get_usage(received, who, services.quotas, services.inboxes, services.webhooks);
    };
    all.emplace_back("GET", root + "/account", scope::account_read, body_kind::none, account);
    all.emplace_back("GET", root + "/account/usage", scope::account_read, body_kind::none, usage);
}

} // namespace

std::vector<route> operations_below(const std::string& root, const operation_services& services)
{
    std::vector<route> all;
    add_inboxes(all, root, services);
    add_emails(all, root, services.inboxes, services.webhooks, services.response_memory);
    add_webhooks(all, root, services.webhooks);
    add_deliveries(all, root, services.webhooks);
    add_account(all, root, services);
    return all;
}

} // namespace tempinbox::gateway
