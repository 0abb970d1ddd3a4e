#include "gateway/api/webhooks.hpp"

#include "common/core/text.hpp"
#include "common/json/object_reader.hpp"
#include "gateway/api/json.hpp"
#include "gateway/api/query_reader.hpp"

#include <algorithm>
#include <array>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t longest_url = 2'048;
constexpr std::size_t longest_description = 200;
constexpr std::array<std::string_view, 3> event_kinds{"email.received", "inbox.created", "inbox.expired"};

// Absent: all three. Given twice is given once.
std::vector<std::string> read_events(json::object_reader& body)
{
    const auto given = body.texts("events", event_kinds.size(), 1, 50);
    if (!given)
        return {event_kinds.begin(), event_kinds.end()};
    if (given->empty())
        body.fail("events must name at least one of email.received, inbox.created, inbox.expired");
    std::vector<std::string> events;
    for (const auto& event : *given) {
        if (std::find(event_kinds.begin(), event_kinds.end(), event) == event_kinds.end())
            body.fail("events must hold only email.received, inbox.created, inbox.expired, not " + quote(event));
        else if (std::find(events.begin(), events.end(), event) == events.end())
            events.push_back(event);
    }
    return events;
}

// The body of POST /v1/webhooks. The dispatcher knows which addresses it may call.
result<webhooks::v1::CreateWebhookRequest> read_new_webhook(const http::request& received, const caller& who)
{
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    auto body = json::object_reader::parse(received.body);
    if (!body)
        return body.error();
    const auto url = body->required_text("url", 1, longest_url);
    const auto events = read_events(*body);
    const auto description = body->text("description", 0, longest_description);
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();

    webhooks::v1::CreateWebhookRequest wanted;
    *wanted.mutable_account() = plans::to_proto(who.state);
    wanted.set_webhook_id(who.new_id<webhook_id>().text());
    wanted.set_url(url);
    wanted.mutable_events()->Assign(events.begin(), events.end());
    wanted.set_description(description.value_or(""));
    return wanted;
}

result<webhooks::v1::ListWebhooksRequest> read_list(const http::request& received, const caller& who)
{
    query_reader query(received);
    const auto wanted = read_page(query);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    webhooks::v1::ListWebhooksRequest list;
    list.set_account_id(who.account().text());
    list.set_limit(wanted.limit);
    list.set_cursor(wanted.cursor);
    return list;
}

template <class Request>
result<Request> read_one(const http::request& received, const caller& who)
{
    const auto id = webhook_id::parse(received.path_param("webhookId"));
    if (!id)
        return id.error();
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    Request wanted;
    wanted.set_account_id(who.account().text());
    wanted.set_webhook_id(id->text());
    return wanted;
}

} // namespace

// POST /v1/webhooks
awaitable<http::response> create_webhook(const http::request& received, const caller& who, webhook_client& webhooks)
{
    auto wanted = read_new_webhook(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());

    const auto created = co_await webhooks.create(std::move(*wanted));
    if (!created)
        co_return http::problem(created.error());

    co_return http::created_json(to_json(*created), "/v1/webhooks/" + created->webhook().webhook_id());
}

awaitable<http::response> check_new_webhook(const http::request& received, const caller& who, webhook_client& webhooks)
{
    auto wanted = read_new_webhook(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());
    wanted->set_check_only(true);

    const auto checked = co_await webhooks.create(std::move(*wanted));
    if (!checked)
        co_return http::problem(checked.error());

    co_return http::response(204, "", "");
}

// GET /v1/webhooks
awaitable<http::response> list_webhooks(const http::request& received, const caller& who, webhook_client& webhooks)
{
    auto wanted = read_list(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());

    const auto found = co_await webhooks.list(std::move(*wanted));
    if (!found)
        co_return http::problem(found.error());

    co_return http::ok_json(to_json(*found));
}

// GET /v1/webhooks/{webhookId}
awaitable<http::response> get_webhook(const http::request& received, const caller& who, webhook_client& webhooks)
{
    auto wanted = read_one<webhooks::v1::GetWebhookRequest>(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());

    const auto found = co_await webhooks.find(std::move(*wanted));
    if (!found)
        co_return http::problem(found.error());

    co_return http::ok_json(to_json(found->webhook()));
}

// DELETE /v1/webhooks/{webhookId}
awaitable<http::response> delete_webhook(const http::request& received, const caller& who, webhook_client& webhooks)
{
    const auto wanted = read_one<webhooks::v1::DeleteWebhookRequest>(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());

    const auto deleted = co_await webhooks.remove(*wanted);
    if (!deleted)
        co_return http::problem(deleted.error());

    co_return http::ok_json(deleted_json("webhookId", wanted->webhook_id()));
}

} // namespace tempinbox::gateway
