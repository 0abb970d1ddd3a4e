#include "inbox/reading/message_opener.hpp"

#include "common/log/log.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tempinbox::inbox {
namespace {

// The first statement of a page is small, since a page may be full after a few messages.
constexpr std::size_t messages_of_first_statement = 25;
constexpr std::size_t messages_per_statement = 100;
constexpr std::size_t bytes_per_statement = 1024 * 1024; // one always fits
// Short jobs, so that the threads' other readers wait for a few milliseconds.
constexpr std::size_t messages_per_job = 10;
constexpr std::size_t bytes_per_job = 256 * 1024; // one always fits

constexpr std::size_t entry_overhead = 256;
constexpr std::size_t header_overhead = 80;
constexpr const char* messages_help = "Messages that searches looked at, by source";

std::size_t size_of(const mailbox::message_location& location)
{
    return static_cast<std::size_t>(std::max<std::int64_t>(location.size, 0));
}

std::size_t bytes_of(const mailbox::message_texts& texts)
{
    auto bytes = entry_overhead + texts.text.size();
    for (const auto& [name, value] : texts.headers)
        bytes += header_overhead + name.size() + value.size();
    return bytes;
}

shared_texts unreadable_texts()
{
    mailbox::message_texts texts;
    texts.is_unreadable = true;
    return std::make_shared<const mailbox::message_texts>(std::move(texts));
}

} // namespace

std::size_t message_opener::bytes_held::operator()(body_id, const shared_texts& texts) const
{
    return bytes_of(*texts);
}

message_opener::message_opener(runtime::host& host, mailbox::email_repository& emails,
                               message_parser& parser, std::size_t max_cache_bytes)
    : emails_(emails),
      parser_(parser),
      max_cached_(max_cache_bytes / 16),
      texts_(max_cache_bytes),
      cached_messages_(host.metrics().counter("tempinbox_inbox_search_messages_total",
                                              messages_help, {{"source", "memory"}})),
      parsed_messages_(host.metrics().counter("tempinbox_inbox_search_messages_total",
                                              messages_help, {{"source", "message"}})),
      unreadable_messages_(host.metrics().counter("tempinbox_inbox_search_messages_total",
                                                  messages_help, {{"source", "unreadable"}})),
      parsed_bytes_(host.metrics().counter("tempinbox_inbox_search_bytes_total",
                                           "Bytes of messages that searches read")),
      cache_bytes_(host.metrics().gauge("tempinbox_inbox_text_cache_bytes",
                                        "Bytes of cached texts and headers of messages"))
{}

shared_texts message_opener::cached(body_id id)
{
    const auto* found = texts_.find(id);
    return found ? *found : nullptr;
}

void message_opener::cache(body_id id, shared_texts texts)
{
    if (!texts->is_cut && bytes_of(*texts) <= max_cached_)
        texts_.put(id, std::move(texts));
    cache_bytes_.Set(static_cast<double>(texts_.weight()));
}

message_session::message_session(message_opener& opener, account_id account,
                                 const opening_bounds& bounds, async::deadline until)
    : opener_(opener),
      account_(account),
      bounds_(bounds),
      until_(until)
{}

void message_session::expect(std::vector<message> messages)
{
    next_.clear();
    for (auto& each : messages) {
        expected entry;
        entry.about = each;
        next_.push_back(std::move(entry));
    }
}

std::optional<opening_bound> message_session::bound_met() const
{
    if (opened_ == 0)
        return std::nullopt;
    if (opened_ >= bounds_.messages)
        return opening_bound::messages;
    if (bytes_ + size_of(next_.front().about.location) > bounds_.bytes)
        return opening_bound::bytes;
    if (time_end_.has_passed())
        return opening_bound::time;
    return std::nullopt;
}

awaitable<result<shared_texts>> message_session::open_next()
{
    if (opened_ == 0)
        time_end_ = async::deadline::after(bounds_.time);
    auto& first = next_.front();
    ++opened_;
    bytes_ += size_of(first.about.location);
    last_ = first.about;
    if (!first.texts)
        first.texts = opener_.cached(first.about.location.body.id);
    if (first.texts)
        opener_.cached_messages_.Increment();
    if (!first.texts && !first.was_requested)
        co_await read_ahead();
    if (!first.texts && !first.raw) {
        auto found = co_await find_raw(first.about.email);
        if (!found)
            co_return found.error();
        first.raw = std::move(found->raw);
        if (found->is_damaged)
            first.texts = unreadable_texts();
    }
    if (!first.texts && first.raw) {
        const auto parsed = co_await parse_ahead();
        if (!parsed)
            co_return parsed.error();
    }
    auto texts = std::move(first.texts);
    next_.pop_front();
    co_return texts;
}

awaitable<result<shared_texts>> message_session::open_last_again()
{
    auto found = co_await find_raw(last_->email);
    if (!found)
        co_return found.error();
    if (found->is_damaged)
        co_return unreadable_texts();
    if (!found->raw)
        co_return shared_texts();
    std::vector<std::string> raw;
    raw.push_back(std::move(*found->raw));
    auto parsed = co_await opener_.parser_.read_texts(account_, std::move(raw), until_);
    if (!parsed)
        co_return parsed.error();
    co_return keep(*last_, std::move(parsed->front()));
}

// Reads the next messages in one statement. Those that it does not find are looked for one by one,
// when it is their turn.
awaitable<void> message_session::read_ahead()
{
    const auto max_messages = opened_ == 1 ? messages_of_first_statement : messages_per_statement;
    std::vector<mailbox::body_key> bodies;
    std::vector<expected*> requested;
    std::size_t bytes = 0;
    for (auto& each : next_) {
        if (!each.texts)
            each.texts = opener_.cached(each.about.location.body.id);
        if (each.texts || each.was_requested)
            continue;
        bytes += size_of(each.about.location);
        if (!requested.empty() && (bytes > bytes_per_statement || requested.size() >= max_messages))
            break;
        each.was_requested = true;
        bodies.push_back(each.about.location.body);
        requested.push_back(&each);
    }
    auto read = co_await opener_.emails_.read_bodies(std::move(bodies));
    for (std::size_t i = 0; i < requested.size(); ++i)
        requested[i]->raw = std::move(read.at(i));
}

// A body is not found while it is being moved to another partition, or if the email was deleted. A
// damaged one must not end every search that comes to it.
awaitable<result<message_session::found_raw>> message_session::find_raw(email_id email)
{
    found_raw read;
    try {
        auto found = co_await opener_.emails_.find(account_, email);
        if (!found && found.error().code != errc::not_found)
            co_return found.error();
        if (found)
            read.raw = std::move(found->raw);
    } catch (const dependency_error&) {
        throw;
    } catch (const std::exception& error) {
        // The stored form is damaged, which no retry mends; the search passes over it.
        log::error("a message cannot be read", {{"email", email.text()}, {"error", error.what()}});
        opener_.unreadable_messages_.Increment();
        read.is_damaged = true;
    }
    co_return read;
}

awaitable<result<void>> message_session::parse_ahead()
{
    std::vector<std::string> raw;
    std::vector<expected*> parsing;
    std::size_t bytes = 0;
    for (auto& each : next_) {
        if (!each.raw)
            continue;
        bytes += each.raw->size();
        if (!raw.empty() && (bytes > bytes_per_job || raw.size() >= messages_per_job))
            break;
        raw.push_back(std::move(*each.raw));
        each.raw.reset();
        parsing.push_back(&each);
    }
    auto parsed = co_await opener_.parser_.read_texts(account_, std::move(raw), until_);
    if (!parsed)
        co_return parsed.error();
    for (std::size_t i = 0; i < parsing.size(); ++i)
        parsing[i]->texts = keep(parsing[i]->about, std::move(parsed->at(i)));
    co_return result<void>();
}

shared_texts message_session::keep(const message& about, mailbox::message_texts parsed)
{
    opener_.parsed_messages_.Increment();
    opener_.parsed_bytes_.Increment(static_cast<double>(size_of(about.location)));
    auto texts = std::make_shared<const mailbox::message_texts>(std::move(parsed));
    opener_.cache(about.location.body.id, texts);
    return texts;
}

} // namespace tempinbox::inbox
