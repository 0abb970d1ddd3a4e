#include "common/rpc/inbox_methods.hpp"
#include "common/rpc/rate_limit_methods.hpp"
#include "common/rpc/webhook_methods.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>

using namespace tempinbox;

namespace {

// The names of its request and its response, by the path of each method.
using messages_by_path = std::map<std::string, std::pair<std::string, std::string>>;

struct noted_methods
{
    messages_by_path messages;
    std::set<const google::protobuf::FileDescriptor*> files;

    template <class Request, class Response>
    void note(const rpc::method<Request, Response>& noted)
    {
        messages.emplace(noted.path, std::pair(Request::descriptor()->full_name(),
                                               Response::descriptor()->full_name()));
        files.insert(Request::descriptor()->file());
    }
};

template <class... Methods>
noted_methods note_all(const Methods&... methods)
{
    noted_methods all;
    (all.note(methods), ...);
    return all;
}

messages_by_path declared_in(const std::set<const google::protobuf::FileDescriptor*>& files)
{
    messages_by_path all;
    for (const auto* file : files) {
        for (int i = 0; i < file->service_count(); ++i) {
            const auto& service = *file->service(i);
            for (int j = 0; j < service.method_count(); ++j) {
                const auto& method = *service.method(j);
                all.emplace(
                    service.full_name() + "/" + method.name(),
                    std::pair(method.input_type()->full_name(), method.output_type()->full_name()));
            }
        }
    }
    return all;
}

} // namespace

TEST_CASE("every declared method has a constant with its path and its messages", "[rpc]")
{
    const auto noted = note_all(
        inbox_methods::create_inbox, inbox_methods::get_inbox, inbox_methods::list_inboxes,
        inbox_methods::delete_inbox, inbox_methods::count_inboxes, inbox_methods::update_inbox,
        inbox_methods::delete_inboxes_by_tag, inbox_methods::empty_inbox,
        inbox_methods::list_emails, inbox_methods::get_list_versions, inbox_methods::get_email,
        inbox_methods::get_email_summaries, inbox_methods::update_email,
        inbox_methods::delete_email, inbox_methods::get_raw_email, inbox_methods::get_attachment,
        inbox_methods::count_emails, inbox_methods::get_email_arrival, inbox_methods::add_domain,
        inbox_methods::list_domains, inbox_methods::set_subdomains,
        inbox_methods::find_first_emails, inbox_methods::get_last_sequences,
        inbox_methods::list_rejections, inbox_methods::check_tag, inbox_methods::create_login,
        inbox_methods::rotate_login, inbox_methods::end_login, inbox_methods::get_faults,
        inbox_methods::set_faults, inbox_methods::clear_faults, inbox_methods::get_sender_report,
        inbox_methods::claim_end_notices, inbox_methods::settle_end_notice,
        rate_limit_methods::take_quota, rate_limit_methods::return_block,
        rate_limit_methods::get_usage, webhook_methods::list_deliveries,
        webhook_methods::get_delivery, webhook_methods::test_webhook,
        webhook_methods::retry_delivery, webhook_methods::replay_deliveries,
        webhook_methods::get_routing, webhook_methods::get_email_deliveries,
        webhook_methods::claim_notices, webhook_methods::settle_notice,
        webhook_methods::count_secrets, webhook_methods::reseal_secrets,
        webhook_methods::create_webhook, webhook_methods::get_webhook,
        webhook_methods::list_webhooks, webhook_methods::update_webhook,
        webhook_methods::delete_webhook, webhook_methods::rotate_secret,
        webhook_methods::create_rule, webhook_methods::get_rule, webhook_methods::list_rules,
        webhook_methods::update_rule, webhook_methods::delete_rule, webhook_methods::test_rules,
        webhook_methods::count_deliveries, webhook_methods::open_feed, webhook_methods::read_events,
        webhook_methods::find_position, webhook_methods::get_positions);

    REQUIRE(noted.files.size() == 10);
    CHECK(noted.messages == declared_in(noted.files));
}

TEST_CASE("a method that waits for a webhook's receiver has longer than others", "[rpc]")
{
    CHECK(inbox_methods::get_inbox.timeout == std::chrono::seconds(5));
    CHECK(webhook_methods::test_webhook.timeout == std::chrono::seconds(20));
    CHECK(webhook_methods::retry_delivery.timeout == std::chrono::seconds(20));
    CHECK(webhook_methods::get_routing.timeout == std::chrono::milliseconds(200));
    CHECK(inbox_methods::get_list_versions.timeout == std::chrono::seconds(1));
}
