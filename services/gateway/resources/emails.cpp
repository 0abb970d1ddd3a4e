#include "gateway/resources/emails.hpp"

#include "common/json/object_reader.hpp"
#include "gateway/json/resources.hpp"
#include "gateway/pipeline/counted_reading.hpp"
#include "gateway/pipeline/tagged_account.hpp"
#include "gateway/resources/email_conditions.hpp"
#include "gateway/resources/path_ids.hpp"

#include <algorithm>
#include <limits>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_tag_length = 50;

// The parameters of a list.
struct list_query
{
    inbox::v1::ListEmailsRequest request;
    email_extras extras;
};

// The conditions and the page, which every list of emails takes.
void read_conditions_and_page(query_reader& query, list_query& list)
{
    auto& request = list.request;
    if (auto filter = read_conditions(query); filter.ByteSizeLong() > 0)
        *request.mutable_filter() = std::move(filter);
    const auto include = query.choices("include", {"text", "codes", "links"});
    const auto has = [&include](const char* part) {
        return std::find(include.begin(), include.end(), part) != include.end();
    };
    list.extras = {.text = has("text"), .codes = has("codes"), .links = has("links")};
    request.set_include_text(list.extras.text);
    request.set_include_links(list.extras.links);
    request.set_omit_codes(!list.extras.codes);
    set_page(request, read_page(query));
}

result<list_query> read_inbox_list(const http::request& received, const caller& who)
{
    auto path = read_inbox_path<inbox::v1::ListEmailsRequest>(received, who);
    if (!path)
        return path.error();
    list_query list;
    list.request = std::move(*path);
    query_reader query(received);
    list.request.set_after(query.integer("after", 0, 0, std::numeric_limits<std::int64_t>::max()));
    read_conditions_and_page(query, list);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();
    return list;
}

result<list_query> read_list(const http::request& received, const caller& who)
{
    list_query list;
    set_account(list.request, who);
    query_reader query(received);
    if (auto tag = query.text("tag", 1, max_tag_length))
        list.request.set_tag(std::move(*tag));
    if (query.has("after"))
        query.fail("after belongs to one inbox; follow an account with GET /v1/events");
    read_conditions_and_page(query, list);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();
    return list;
}

result<inbox::v1::UpdateEmailRequest> read_change(const http::request& received, const caller& who)
{
    auto request =
        without_query(received, read_email_path<inbox::v1::UpdateEmailRequest>(received, who));
    if (!request)
        return request.error();
    auto body = json::object_reader::parse(received.body);
    if (!body)
        return body.error();
    if (body->has_null("isRead"))
        body->fail("isRead must be true or false, not null");
    const auto is_read = body->boolean("isRead");
    if (const auto all_known = body->finish(); !all_known)
        return all_known.error();
    if (!is_read)
        return failure{errc::invalid_argument, "isRead is required: true or false"};
    request->set_is_read(*is_read);
    return request;
}

// How the email was routed. Empty if the dispatcher does not respond, since the email matters more,
// and for a caller that may not see webhooks.
awaitable<webhooks::v1::GetRoutingResponse> find_routing(const caller& who, std::string email,
                                                         webhook_client& webhooks)
{
    if (who.limits().routing_rules <= 0 || !who.may(accounts::scope::webhooks_read))
        co_return webhooks::v1::GetRoutingResponse();
    webhooks::v1::GetRoutingRequest request;
    request.set_account_id(who.account().text());
    request.set_email_id(std::move(email));
    auto found = co_await webhooks.try_call_batched(webhook_methods::get_routing,
                                                    std::move(request), who.account());
    if (!found)
        co_return webhooks::v1::GetRoutingResponse();
    co_return std::move(*found);
}

// An inbox service of release 0.2 gives no links, which is not the same as mail without any.
bool lacks_links(const inbox::v1::ListEmailsResponse& list)
{
    return std::any_of(list.emails().begin(), list.emails().end(),
                       [](const inbox::v1::EmailSummary& email) { return !email.has_links(); });
}

// Reads a list, whose texts and links may be large.
awaitable<result<counted_reading<inbox::v1::ListEmailsResponse>>>
read_list_of(const caller& who, list_query query, inbox_client& inboxes, response_budget& memory)
{
    const auto& list = query.request;
    const bool is_cheap = !list.inbox_id().empty() && !list.has_filter() && !list.include_text() &&
                          !list.include_links();
    auto read =
        co_await read_counted(inboxes, inbox_methods::list_emails, std::move(query.request), memory,
                              who.account(), is_cheap ? call_mode::batched : call_mode::alone);
    if (read && query.extras.links && lacks_links(read->found))
        co_return failure{errc::unavailable, "Links cannot be listed at this moment; try again"};
    co_return read;
}

// A page that opens messages ends where its time is over, so the next one may be longer.
bool is_cacheable(const inbox::v1::ListEmailsRequest& request)
{
    return !request.filter().has_text() && request.filter().headers().empty();
}

} // namespace

// GET /v1/inboxes/{inboxId}/emails
awaitable<http::response> list_inbox_emails(const http::request& received, const caller& who,
                                            inbox_client& inboxes, list_cache& lists,
                                            response_budget& memory)
{
    const auto query = read_inbox_list(received, who);
    if (!query)
        co_return http::error_response(query.error());

    if (is_cacheable(query->request))
        if (auto unchanged = co_await lists.find(query->request))
            co_return http::ok_json(std::move(*unchanged));
    auto read = co_await read_list_of(who, *query, inboxes, memory);
    if (!read)
        co_return http::error_response(read.error());

    auto json = to_json(read->found, query->extras);
    if (is_cacheable(query->request))
        lists.store(query->request, read->found.version(), json);
    read->counted.reset(); // one copy is left
    co_return reserve_response(http::ok_json(std::move(json)), who.account(), memory);
}

// GET /v1/emails
awaitable<http::response> list_emails(const http::request& received, const caller& who,
                                      inbox_client& inboxes, response_budget& memory)
{
    const auto query = read_list(received, who);
    if (!query)
        co_return http::error_response(query.error());

    auto read = co_await read_list_of(who, *query, inboxes, memory);
    if (!read)
        co_return http::error_response(read.error());

    auto json = to_json(read->found, query->extras);
    read->counted.reset(); // one copy is left
    co_return reserve_response(http::ok_json(std::move(json)), who.account(), memory);
}

// GET /v1/emails/{emailId}
awaitable<http::response> get_email(const http::request& received, const caller& who,
                                    inbox_client& inboxes, webhook_client& webhooks,
                                    response_budget& memory)
{
    auto email_request =
        without_query(received, read_email_path<inbox::v1::GetEmailRequest>(received, who));
    if (!email_request)
        co_return http::error_response(email_request.error());

    auto read = co_await read_counted(inboxes, inbox_methods::get_email, std::move(*email_request),
                                      memory, who.account());
    if (!read)
        co_return http::error_response(read.error());

    const auto routing =
        co_await find_routing(who, read->found.email().summary().email_id(), webhooks);
    auto json = to_json(read->found.email(), routing);
    read->counted.reset(); // one copy is left
    co_return reserve_response(http::ok_json(std::move(json)), who.account(), memory);
}

// PATCH /v1/emails/{emailId}
awaitable<http::response> update_email(const http::request& received, const caller& who,
                                       inbox_client& inboxes)
{
    auto request = read_change(received, who);
    if (!request)
        co_return http::error_response(request.error());

    const auto changed = co_await inboxes.call_batched(inbox_methods::update_email,
                                                       std::move(*request), who.account());
    if (!changed)
        co_return http::error_response(changed.error());

    co_return http::ok_json(to_json(changed->email()));
}

// DELETE /v1/emails/{emailId}
awaitable<http::response> delete_email(const http::request& received, const caller& who,
                                       inbox_client& inboxes)
{
    const auto request =
        without_query(received, read_email_path<inbox::v1::DeleteEmailRequest>(received, who));
    if (!request)
        co_return http::error_response(request.error());

    const auto deleted =
        co_await inboxes.call_batched(inbox_methods::delete_email, *request, who.account());
    if (!deleted)
        co_return http::error_response(deleted.error());

    co_return http::ok_json(deleted_json("emailId", request->email_id()));
}

} // namespace tempinbox::gateway
