#include "gateway/api/emails.hpp"

#include "gateway/api/json.hpp"
#include "gateway/api/query_reader.hpp"

#include <limits>

namespace tempinbox::gateway {
namespace {

result<inbox::v1::ListEmailsRequest> read_list(const http::request& received, const caller& who)
{
    const auto id = inbox_id::parse(received.path_param("inboxId"));
    if (!id)
        return id.error();
    query_reader query(received);
    const auto after = query.integer("after", 0, 0, std::numeric_limits<std::int64_t>::max());
    const auto wanted = read_page(query);
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    inbox::v1::ListEmailsRequest list;
    list.set_account_id(who.account().text());
    list.set_inbox_id(id->text());
    list.set_limit(wanted.limit);
    list.set_cursor(wanted.cursor);
    list.set_after(after);
    return list;
}

result<inbox::v1::GetEmailRequest> read_one(const http::request& received, const caller& who)
{
    const auto id = email_id::parse(received.path_param("emailId"));
    if (!id)
        return id.error();
    if (const auto query = expect_no_query(received); !query)
        return query.error();
    inbox::v1::GetEmailRequest wanted;
    wanted.set_account_id(who.account().text());
    wanted.set_email_id(id->text());
    return wanted;
}

} // namespace

// GET /v1/inboxes/{inboxId}/emails
awaitable<http::response> list_inbox_emails(const http::request& received, const caller& who, inbox_client& inboxes)
{
    auto wanted = read_list(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());

    const auto found = co_await inboxes.list_emails(std::move(*wanted));
    if (!found)
        co_return http::problem(found.error());

    co_return http::ok_json(to_json(*found));
}

// GET /v1/emails/{emailId}
awaitable<http::response> get_email(const http::request& received, const caller& who, inbox_client& inboxes)
{
    auto wanted = read_one(received, who);
    if (!wanted)
        co_return http::problem(wanted.error());

    const auto found = co_await inboxes.find_email(std::move(*wanted));
    if (!found)
        co_return http::problem(found.error());

    co_return http::ok_json(to_json(found->email()));
}

} // namespace tempinbox::gateway
