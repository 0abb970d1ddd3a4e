#include "inbox/reading/email_reader.hpp"

#include <algorithm>

namespace tempinbox::inbox {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_batch = 100;
constexpr std::size_t max_batch_bytes = 4 * 1024 * 1024; // of messages; one always fits
// Nothing is read for a caller who has given up (after 5 s).
constexpr auto timeout = 4'500ms;
// A slow statement, such as one that reads a large message, holds nobody up.
constexpr async::batch_policy rows_policy{
    .max_in_flight = 2, .slow_after = 10ms, .max_items = max_batch};
constexpr async::batch_policy bodies_policy{
    .max_in_flight = 2, .slow_after = 10ms, .max_items = max_batch, .max_weight = max_batch_bytes};

// A byte that is no character of its charset is three of UTF-8.
constexpr std::size_t max_growth = 3;
// Text, html and headers of a view, beside its message.
constexpr std::size_t view_copies = 4;

constexpr std::size_t entry_overhead = 512; // of a view, besides its texts
constexpr std::size_t item_overhead = 64;   // of each header, address and attachment
constexpr const char* views_help = "Views of messages for the API, by source";

failure cannot_be_read()
{
    return failure{errc::unavailable, "Emails cannot be read now; try again"};
}

std::size_t bytes_of(const std::vector<mime::email_address>& addresses)
{
    std::size_t bytes = 0;
    for (const auto& each : addresses)
        bytes += item_overhead + each.name.size() + each.address.size();
    return bytes;
}

std::size_t bytes_of(const mime::view& view)
{
    std::size_t bytes = entry_overhead + bytes_of(view.to) + bytes_of(view.cc) +
                        bytes_of(view.bcc) + bytes_of(view.reply_to) + view.summary.preview.size();
    const auto& summary = view.summary;
    bytes += summary.subject.size() + summary.from.size() + summary.from_name.size() +
             (summary.message_id ? summary.message_id->size() : 0);
    for (const auto& each : view.defects)
        bytes += item_overhead + each.size();
    for (const auto& [name, value] : view.headers)
        bytes += item_overhead + name.size() + value.size();
    for (const auto& each : view.attachments)
        bytes += 2 * item_overhead + each.filename.size() + each.content_type.size() +
                 (each.sha256 ? each.sha256->size() : 0) +
                 (each.content_id ? each.content_id->size() : 0);
    return bytes + (view.text ? view.text->size() : 0) + (view.html ? view.html->size() : 0);
}

// A busy machine did not read it to its end: the next time it may.
bool is_cut_short(const mime::view& view)
{
    return std::find(view.defects.begin(), view.defects.end(), "deadline") != view.defects.end();
}

} // namespace

std::size_t email_reader::bytes_held::operator()(body_id, const shared_view& view) const
{
    return bytes_of(*view);
}

email_reader::email_reader(runtime::host& host, mailbox::email_repository& emails,
                           message_parser& reader, std::size_t max_cache_bytes)
    : emails_(emails),
      reader_(reader),
      max_cached_view_(max_cache_bytes / 16),
      views_(max_cache_bytes),
      cached_views_(host.metrics().counter("tempinbox_inbox_views_total", views_help,
                                           {{"source", "memory"}})),
      parsed_views_(host.metrics().counter("tempinbox_inbox_views_total", views_help,
                                           {{"source", "message"}})),
      cache_bytes_(host.metrics().gauge("tempinbox_inbox_view_cache_bytes",
                                        "Bytes of cached views of messages")),
      rows_(host.executor(), rows_policy, "emails not read",
            [this](std::vector<email_name> names) { return emails_.find_all(std::move(names)); }),
      bodies_(host.executor(), bodies_policy, "messages not read",
              [this](std::vector<body_request> requests) {
                  std::vector<mailbox::body_key> bodies;
                  bodies.reserve(requests.size());
                  for (const auto& each : requests)
                      bodies.push_back(each.body);
                  return emails_.read_bodies(std::move(bodies));
              })
{}

awaitable<result<read_email>> email_reader::read(account_id account, email_id id,
                                                 std::size_t max_bytes)
{
    return read(account, id, max_bytes, read_deadline());
}

async::deadline email_reader::read_deadline()
{
    return async::deadline::after(timeout);
}

awaitable<result<read_email>> email_reader::read(account_id account, email_id id,
                                                 std::size_t max_bytes, async::deadline until)
{
    auto found = co_await rows_.ask(email_name(account, id), until);
    if (!found)
        co_return cannot_be_read();
    if (!*found)
        co_return found->error();
    read_email read;
    read.email = std::move(**found);
    if (is_too_large(read.email, max_bytes))
        co_return read;
    auto view = co_await find_view(account, read.email, until);
    if (!view)
        co_return view.error();
    read.view = std::move(*view);
    co_return read;
}

awaitable<result<std::optional<read_attachment>>>
email_reader::read_attachment(account_id account, email_id id, std::string attachment_id,
                              std::size_t max_bytes)
{
    const auto until = read_deadline();
    const auto email = co_await read(account, id, 0, until);
    if (!email)
        co_return email.error();
    const auto& attachments = email->view->attachments;
    const auto about =
        std::find_if(attachments.begin(), attachments.end(),
                     [&](const mime::attachment& each) { return each.id == attachment_id; });
    if (about == attachments.end())
        co_return std::nullopt;
    inbox::read_attachment found;
    found.about = *about;
    if (max_bytes > 0 && about->size > static_cast<std::int64_t>(max_bytes))
        co_return found;

    auto message = co_await find_message(account, email->email, until);
    if (!message)
        co_return message.error();
    auto content = co_await reader_.read_attachment(account, std::move(*message),
                                                    std::move(attachment_id), until);
    if (!content)
        co_return content.error();
    if (!*content)
        co_return std::nullopt;
    found.content = std::move(**content);
    co_return found;
}

std::size_t email_reader::estimate_texts(const mailbox::email_summary& email) const
{
    return std::min(static_cast<std::size_t>(email.size), 2 * reader_.limits().text_bytes);
}

// A message is read once for both calls of a GET: one whose texts may be larger than the first
// allows, and whose view may be too large for the cache, waits for the second.
bool email_reader::is_too_large(const mailbox::stored_email& email, std::size_t max_bytes)
{
    const auto size = static_cast<std::size_t>(email.summary.size);
    return max_bytes > 0 &&
           size > std::max(max_bytes / max_growth, max_cached_view_ / view_copies) &&
           views_.find(email.body.id) == nullptr;
}

awaitable<result<email_reader::shared_view>>
email_reader::find_view(account_id account, const mailbox::stored_email& email,
                        async::deadline until)
{
    const auto id = email.body.id;
    if (const auto* cached = views_.find(id)) {
        cached_views_.Increment();
        co_return *cached;
    }
    auto message = co_await find_message(account, email, until);
    if (!message)
        co_return message.error();
    auto parsed = co_await reader_.read(account, std::move(*message), until);
    if (!parsed)
        co_return parsed.error();
    parsed_views_.Increment();
    auto view = std::make_shared<const mime::view>(std::move(*parsed));
    cache(id, view);
    co_return view;
}

awaitable<result<std::string>> email_reader::find_message(account_id account,
                                                          const mailbox::stored_email& email,
                                                          async::deadline until)
{
    body_request wanted{account, email.body, static_cast<std::size_t>(email.summary.size)};
    auto read = co_await bodies_.ask(std::move(wanted), until);
    if (!read)
        co_return cannot_be_read();
    if (*read)
        co_return std::move(**read);
    // It is on its way to another partition, or the email was deleted.
    auto found = co_await emails_.find(account, email.summary.id);
    if (!found)
        co_return found.error();
    co_return std::move(found->raw);
}

void email_reader::cache(body_id id, shared_view view)
{
    if (is_cut_short(*view) || bytes_of(*view) > max_cached_view_)
        return;
    views_.put(id, std::move(view));
    cache_bytes_.Set(static_cast<double>(views_.weight()));
}

} // namespace tempinbox::inbox
