#include "gateway/dashboard/routes.hpp"

#include "gateway/dashboard/events.hpp"
#include "gateway/dashboard/keys.hpp"
#include "gateway/dashboard/plans.hpp"
#include "gateway/dashboard/session_checks.hpp"
#include "gateway/resources/rules.hpp"

namespace tempinbox::gateway {
namespace {

const std::string root(dashboard_api_root);

void add(std::vector<route>& all, std::vector<route> more)
{
    for (auto& operation : more)
        all.push_back(std::move(operation));
}

void add_keys(std::vector<route>& all, accounts::key_repository& keys)
{
    const auto on = [&keys](auto operation) {
        return [&keys, operation](const http::request& received, const caller& who) {
            return operation(received, who, keys);
        };
    };
    all.emplace_back("GET", root + "/keys", body_kind::none, on(list_keys));
    all.emplace_back("POST", root + "/keys", body_kind::json, on(create_key));
    all.emplace_back("DELETE", root + "/keys/{keyId}", body_kind::none, on(delete_key));
}

void add_rules(std::vector<route>& all, const operation_services& services)
{
    const auto on = [&webhooks = services.webhooks](auto operation) {
        return [&webhooks, operation](const http::request& received, const caller& who) {
            return operation(received, who, webhooks);
        };
    };
    const auto test = [&webhooks = services.webhooks, &inboxes = services.inboxes](
                          const http::request& received, const caller& who) {
        return test_rules(received, who, webhooks, inboxes);
    };
    all.emplace_back("GET", root + "/rules", body_kind::none, on(list_rules));
    all.emplace_back("POST", root + "/rules", body_kind::json, on(create_rule));
    all.emplace_back("POST", root + "/rules/test", body_kind::json, test);
    all.emplace_back("GET", root + "/rules/{ruleId}", body_kind::none, on(get_rule));
    all.emplace_back("PATCH", root + "/rules/{ruleId}", body_kind::merge_patch, on(update_rule));
    all.emplace_back("DELETE", root + "/rules/{ruleId}", body_kind::none, on(delete_rule));
}

} // namespace

std::vector<route> dashboard_operations(const operation_services& services,
                                        accounts::key_repository& keys, sign_in_handlers& sign_ins,
                                        password_handlers& passwords, event_stream& stream,
                                        const session_issuer& issuer)
{
    const auto offered = [&accounts = services.accounts](const http::request& received,
                                                         const caller&) {
        return list_plans(received, accounts);
    };
    const auto events = [&stream, &issuer](const http::request& received, const caller& who) {
        return stream_events(received, who, stream, issuer);
    };
    auto all = operations_below(root, services);
    add(all, sign_ins.operations());
    add(all, passwords.operations());
    all.emplace_back("GET", root + "/plans", body_kind::none, offered);
    add_keys(all, keys);
    add_rules(all, services);
    all.emplace_back("GET", root + "/events", body_kind::none, events);
    return all;
}

std::vector<route> open_dashboard_operations(sign_in_handlers& sign_ins,
                                             password_handlers& passwords,
                                             email_verification_handlers& email_verification)
{
    auto all = sign_ins.open_operations();
    add(all, email_verification.is_set() ? email_verification.sign_up_operations()
                                         : sign_ins.sign_up_operations());
    add(all, email_verification.operations());
    add(all, passwords.open_operations());
    return all;
}

} // namespace tempinbox::gateway
