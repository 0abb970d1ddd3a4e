#include "inbox/api/email_rpc.hpp"

#include "common/core/text.hpp"
#include "common/rpc/daily_counts.hpp"
#include "common/rpc/inbox_methods.hpp"
#include "common/rpc/timestamp.hpp"
#include "inbox/api/inbox_requests.hpp"
#include "inbox/api/messages.hpp"
#include "inbox/lifecycle/change_policy.hpp"
#include "inbox/reading/trace_headers.hpp"

#include <algorithm>

namespace tempinbox::inbox {

namespace {

// The messages of a page with texts are at most this large in total.
constexpr std::int64_t max_bytes_with_text = 8 * 1024 * 1024;
// So are the links of a page with links. A short message can have long ones: by its <base>.
constexpr std::size_t max_bytes_of_links = 8 * 1024 * 1024;
constexpr std::size_t links_read_at_once = 25; // of so many emails, each at most 1 MiB
// The largest text of one message.
constexpr auto max_bytes_of_text = static_cast<std::int64_t>(mime::view_limits().text_bytes);

constexpr int max_summaries = 100; // of one call
constexpr std::size_t max_raw_bytes = 512 * 1024 * 1024;
// The frame as stored, the message as read, and the response.
constexpr std::size_t raw_copies = 3;

// Lists of an inbox without a filter: each reads few rows, as a rule all of them in one statement.
// Nothing is read for a caller who has given up (after 5 s).
constexpr async::batch_policy lists_policy{.max_in_flight = 4,
                                           .slow_after = std::chrono::milliseconds(10),
                                           .max_items = 8,
                                           .timeout = std::chrono::milliseconds(4'500)};

struct email_key
{
    account_id account;
    email_id id;
};

template <class Request>
result<email_key> read_key(const Request& request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        return account.error();
    const auto id = email_id::parse(request.email_id());
    if (!id)
        return id.error();
    return email_key(*account, *id);
}

// 0: none.
template <class Request>
std::size_t limit_of(const Request& request)
{
    return static_cast<std::size_t>(std::max<std::int64_t>(request.most_bytes(), 0));
}

template <class Text>
std::int64_t size_of(const std::optional<Text>& text)
{
    return text ? static_cast<std::int64_t>(text->size()) : 0;
}

failure cannot_be_changed()
{
    return failure{errc::unavailable, "Emails cannot be changed now; try again"};
}

v1::SearchedEmails to_searched_message(const searched_page& read)
{
    v1::SearchedEmails searched;
    searched.set_emails(read.page.rows);
    searched.set_texts(read.opened);
    if (read.page.back_to)
        *searched.mutable_back_to() = rpc::to_timestamp(*read.page.back_to);
    return searched;
}

// What `include` adds to a page, for a caller who has to make room for it first.
void leave_out_parts(v1::ListEmailsResponse& page, std::int64_t bytes)
{
    for (auto& email : *page.mutable_emails()) {
        email.clear_text();
        email.clear_links();
    }
    page.set_omitted_bytes(bytes);
}

// How large text and html are, if together they are larger than the caller's limit; else 0.
std::int64_t bytes_to_omit(const mime::view& view, std::int64_t max_bytes)
{
    const auto bytes = size_of(view.text) + size_of(view.html);
    return max_bytes > 0 && bytes > max_bytes ? bytes : 0;
}

} // namespace

email_rpc::email_rpc(runtime::host& host, mailbox::email_repository& emails, email_reader& texts,
                     message_search& search, renewal& renewals)
    : emails_(emails),
      texts_(texts),
      search_(search),
      renewal_(renewals),
      memory_(max_raw_bytes),
      lists_(host.executor(), lists_policy, "emails not listed",
             [this](std::vector<mailbox::email_query> queries) {
                 return emails_.list_all(std::move(queries));
             }),
      marks_(host.executor(), change_policy, "emails not marked",
             [this](std::vector<mailbox::email_mark> marks) {
                 return emails_.mark_all(std::move(marks));
             }),
      removals_(
          host.executor(), change_policy, "emails not deleted",
          [this](std::vector<email_name> names) { return emails_.remove_all(std::move(names)); })
{}

void email_rpc::add_to(rpc::server& server)
{
    server.add(inbox_methods::list_emails, *this, &email_rpc::list);
    server.add(inbox_methods::get_list_versions, *this, &email_rpc::list_versions);
    server.add(inbox_methods::get_email, *this, &email_rpc::get);
    server.add(inbox_methods::get_email_summaries, *this, &email_rpc::get_summaries);
    server.add(inbox_methods::update_email, *this, &email_rpc::update);
    server.add(inbox_methods::delete_email, *this, &email_rpc::remove);
    server.add(inbox_methods::empty_inbox, *this, &email_rpc::empty);
    server.add(inbox_methods::get_raw_email, *this, &email_rpc::get_raw);
    server.add(inbox_methods::get_attachment, *this, &email_rpc::get_attachment);
    server.add(inbox_methods::get_email_arrival, *this, &email_rpc::get_arrival);
    server.add(inbox_methods::count_emails, *this, &email_rpc::count);
}

awaitable<result<v1::ListEmailsResponse>> email_rpc::list(v1::ListEmailsRequest request)
{
    auto query = read_email_query(request);
    if (!query)
        co_return query.error();
    if (request.include_text())
        query->max_bytes = max_bytes_with_text;
    const auto account = query->account;
    const auto asked = *query;
    if (query->inbox)
        renewal_.note_read(account, *query->inbox);
    const bool is_filtered = query->filter != mailbox::email_filter() || request.has_tag();

    auto listed = co_await read_page(std::move(*query));
    if (!listed)
        co_return listed.error();
    auto& page = listed->page;
    std::vector<v1::Links> links;
    if (request.include_links()) {
        auto read = co_await read_links(asked, page);
        if (!read)
            co_return read.error();
        links = std::move(*read);
    }
    v1::ListEmailsResponse response;
    std::int64_t bytes_of_links = 0;
    for (std::size_t i = 0; i < page.items.size(); ++i) {
        auto& email = *response.add_emails();
        email = to_message(page.items[i]);
        if (!request.include_links())
            continue;
        bytes_of_links += static_cast<std::int64_t>(links[i].ByteSizeLong());
        *email.mutable_links() = std::move(links[i]);
    }
    response.set_next_cursor(page.next_cursor);
    response.set_version(page.version);
    if (is_filtered)
        *response.mutable_searched() = to_searched_message(*listed);
    const auto max_bytes = std::max<std::int64_t>(request.most_bytes(), 0);
    if (request.include_text())
        co_return co_await add_texts(account, std::move(response), max_bytes, bytes_of_links);
    if (max_bytes > 0 && bytes_of_links > max_bytes)
        leave_out_parts(response, bytes_of_links);
    co_return response;
}

// What may read thousands of rows is read by itself, so that it holds no other list up.
awaitable<result<searched_page>> email_rpc::read_page(mailbox::email_query query)
{
    if (query.filter.needs_message())
        co_return co_await search_.list(std::move(query));
    searched_page read;
    if (!query.inbox || query.filter != mailbox::email_filter()) {
        auto listed = co_await emails_.list(std::move(query));
        if (!listed)
            co_return listed.error();
        read.page = std::move(*listed);
        co_return read;
    }
    auto listed = co_await lists_.ask(std::move(query));
    if (!listed)
        co_return failure(errc::unavailable, "Emails cannot be listed now; try again");
    if (!*listed)
        co_return listed->error();
    read.page = std::move(**listed);
    co_return read;
}

// Those of each email; the page ends before they are too large together.
awaitable<result<std::vector<v1::Links>>> email_rpc::read_links(const mailbox::email_query& query,
                                                                mailbox::email_page& page)
{
    std::vector<v1::Links> links;
    std::size_t bytes = 0;
    while (links.size() < page.items.size()) {
        std::vector<email_name> names;
        const auto end = std::min(page.items.size(), links.size() + links_read_at_once);
        for (auto i = links.size(); i < end; ++i)
            names.emplace_back(query.account, page.items[i].id);
        const auto found = co_await emails_.find_all(std::move(names));
        for (const auto& email : found) {
            if (!email && email.error().code != errc::not_found)
                co_return email.error();
            auto of_email = email ? to_message(email->links) : v1::Links(); // deleted meanwhile
            bytes += of_email.ByteSizeLong();
            if (bytes > max_bytes_of_links && !links.empty()) {
                page.items.erase(page.items.begin() + static_cast<std::ptrdiff_t>(links.size()),
                                 page.items.end());
                page.next_cursor = mailbox::cursor_past(query, page.items.back());
                page.back_to = page.items.back().received_at;
                co_return links;
            }
            links.push_back(std::move(of_email));
        }
    }
    co_return links;
}

// Once links and texts exceed the limit, the rest are not read: their messages' sizes are counted
// instead.
awaitable<result<v1::ListEmailsResponse>> email_rpc::add_texts(account_id account,
                                                               v1::ListEmailsResponse page,
                                                               std::int64_t max_bytes,
                                                               std::int64_t bytes_of_links)
{
    const auto until = email_reader::read_deadline();
    auto bytes = bytes_of_links;
    bool is_too_large = max_bytes > 0 && bytes > max_bytes;
    for (auto& email : *page.mutable_emails()) {
        if (is_too_large) {
            bytes += std::min(email.size_bytes(), max_bytes_of_text);
            continue;
        }
        const auto id = email_id::parse(email.email_id()).value();
        const auto read =
            co_await texts_.read(account, id, static_cast<std::size_t>(max_bytes), until);
        if (!read && read.error().code == errc::not_found) // deleted meanwhile
            continue;
        if (!read)
            co_return read.error();
        if (!read->view) {
            bytes += std::min(email.size_bytes(), max_bytes_of_text);
            is_too_large = true;
            continue;
        }
        bytes += size_of(read->view->text);
        if (read->view->text)
            email.set_text(*read->view->text);
        is_too_large = max_bytes > 0 && bytes > max_bytes;
    }
    if (is_too_large)
        leave_out_parts(page, bytes);
    co_return page;
}

awaitable<result<v1::GetListVersionsResponse>>
email_rpc::list_versions(v1::GetListVersionsRequest request)
{
    auto inboxes = read_inbox_names(request.inboxes());
    if (!inboxes)
        co_return inboxes.error();
    for (const auto& [account, inbox] : *inboxes)
        renewal_.note_read(account, inbox);

    v1::GetListVersionsResponse response;
    for (auto& version : co_await emails_.find_versions(std::move(*inboxes)))
        response.add_versions(std::move(version));
    co_return response;
}

awaitable<result<v1::GetEmailSummariesResponse>>
email_rpc::get_summaries(v1::GetEmailSummariesRequest request)
{
    const auto account = account_id::parse(request.account_id());
    if (!account)
        co_return account.error();
    if (const auto fits = check_count("email_ids", request.email_ids_size(), max_summaries); !fits)
        co_return fits.error();
    std::vector<email_name> names;
    for (const auto& text : request.email_ids()) {
        const auto id = email_id::parse(text);
        if (!id)
            co_return id.error();
        names.emplace_back(*account, *id);
    }

    const auto found = co_await emails_.find_all(std::move(names));
    v1::GetEmailSummariesResponse response;
    for (const auto& email : found) {
        if (!email && email.error().code != errc::not_found)
            co_return email.error();
        if (email)
            *response.add_emails() = to_message(email->summary);
    }
    co_return response;
}

awaitable<result<v1::GetEmailResponse>> email_rpc::get(v1::GetEmailRequest request)
{
    const auto key = read_key(request);
    if (!key)
        co_return key.error();

    const auto read = co_await texts_.read(key->account, key->id, limit_of(request));
    if (!read)
        co_return read.error();
    renewal_.note_read(key->account, read->email.summary.inbox);
    v1::GetEmailResponse response;
    if (!read->view) {
        response.set_omitted_bytes(
            static_cast<std::int64_t>(texts_.estimate_texts(read->email.summary)));
        co_return response;
    }
    response.set_omitted_bytes(bytes_to_omit(*read->view, request.most_bytes()));
    *response.mutable_email() = to_message(read->email, *read->view, response.omitted_bytes() == 0);
    co_return response;
}

awaitable<result<v1::UpdateEmailResponse>> email_rpc::update(v1::UpdateEmailRequest request)
{
    const auto key = read_key(request);
    if (!key)
        co_return key.error();
    if (!request.has_is_read())
        co_return failure(errc::invalid_argument, "isRead must be given: true or false");

    mailbox::email_mark mark{key->account, key->id, request.is_read()};
    const auto email = co_await marks_.ask(std::move(mark));
    if (!email)
        co_return cannot_be_changed();
    if (!*email)
        co_return email->error();
    v1::UpdateEmailResponse response;
    *response.mutable_email() = to_message(**email);
    co_return response;
}

awaitable<result<v1::DeleteEmailResponse>> email_rpc::remove(v1::DeleteEmailRequest request)
{
    const auto key = read_key(request);
    if (!key)
        co_return key.error();

    const auto removed = co_await removals_.ask(email_name(key->account, key->id));
    if (!removed)
        co_return cannot_be_changed();
    if (!*removed)
        co_return removed->error();
    co_return v1::DeleteEmailResponse();
}

awaitable<result<v1::EmptyInboxResponse>> email_rpc::empty(v1::EmptyInboxRequest request)
{
    const auto name = read_inbox_name(request);
    if (!name)
        co_return name.error();
    const auto [account, inbox] = *name;

    // Mail that comes meanwhile stays, or emptying a busy inbox would never end.
    std::optional<std::int64_t> up_to;
    std::int64_t emails = 0;
    bool is_full = true;
    while (is_full) {
        const auto removed = co_await emails_.empty_inbox(account, inbox, up_to);
        if (!removed && emails == 0)
            co_return removed.error();
        if (!removed) // the inbox ended meanwhile; its mail goes with it
            break;
        if (!up_to)
            up_to = removed->last_sequence;
        emails += removed->emails;
        is_full = removed->is_full;
    }
    v1::EmptyInboxResponse response;
    response.set_deleted_emails(emails);
    co_return response;
}

awaitable<result<v1::GetRawEmailResponse>> email_rpc::get_raw(v1::GetRawEmailRequest request)
{
    const auto key = read_key(request);
    if (!key)
        co_return key.error();

    const auto size = co_await emails_.find_size(key->account, key->id);
    if (!size)
        co_return size.error();
    v1::GetRawEmailResponse response;
    response.set_size_bytes(*size);
    if (request.most_bytes() > 0 && *size > request.most_bytes())
        co_return response;
    const auto counted = memory_.try_reserve(raw_copies * static_cast<std::size_t>(*size));
    if (!counted)
        co_return failure(errc::unavailable, "Too many large messages are being read; try again");
    auto email = co_await emails_.find(key->account, key->id);
    if (!email)
        co_return email.error();
    response.set_trace(trace_headers(*email));
    response.set_raw(std::move(email->raw));
    co_return response;
}

awaitable<result<v1::GetAttachmentResponse>>
email_rpc::get_attachment(v1::GetAttachmentRequest request)
{
    const auto key = read_key(request);
    if (!key)
        co_return key.error();

    auto found = co_await texts_.read_attachment(key->account, key->id, request.attachment_id(),
                                                 limit_of(request));
    if (!found)
        co_return found.error();
    if (!*found)
        co_return failure(errc::not_found,
                          "Attachment " + quote(request.attachment_id()) + " does not exist");
    v1::GetAttachmentResponse response;
    *response.mutable_attachment() = to_message((*found)->about);
    if ((*found)->content)
        response.set_content(std::move(*(*found)->content));
    co_return response;
}

awaitable<result<v1::GetEmailArrivalResponse>>
email_rpc::get_arrival(v1::GetEmailArrivalRequest request)
{
    const auto key = read_key(request);
    if (!key)
        co_return key.error();

    const auto found = co_await emails_.find_arrival(key->account, key->id);
    if (!found)
        co_return found.error();
    co_return to_message(*found);
}

awaitable<result<v1::CountEmailsResponse>> email_rpc::count(v1::CountEmailsRequest request)
{
    const auto owner = read_owner(request);
    if (!owner)
        co_return owner.error();
    request.set_account_id(owner->account.text());
    const auto checked = rpc::check_count_request(request);
    if (!checked)
        co_return checked.error();

    std::vector<daily_count> counts;
    if (owner->tag)
        counts = co_await emails_.count_by_day(owner->account, *owner->tag, request.days());
    else
        counts = co_await emails_.count_by_day(owner->account, request.days());
    co_return rpc::count_response<v1::CountEmailsResponse>(counts, &v1::EmailsOfDay::set_emails);
}

} // namespace tempinbox::inbox
