#include "inbox/reading/message_opener.hpp"

#include <algorithm>
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

} // namespace

std::size_t message_opener::bytes_held::operator()(body_id, const shared_texts& texts) const
{
    return bytes_of(*texts);
}

message_opener::message_opener(mailbox::email_repository& emails, message_parser& parser,
                               std::size_t max_cache_bytes)
    : emails_(emails),
      parser_(parser),
      max_cached_(max_cache_bytes / 16),
      texts_(max_cache_bytes)
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

bool message_session::has_room() const
{
    if (opened_ == 0)
        return true;
    return opened_ < bounds_.messages &&
           bytes_ + size_of(next_.front().about.location) <= bounds_.bytes &&
           !time_end_.has_passed();
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
    if (!first.texts && !first.was_requested)
        co_await read_ahead();
    if (!first.texts && !first.raw) {
        auto found = co_await find_raw(first.about.email);
        if (!found)
            co_return found.error();
        first.raw = std::move(*found);
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
    if (!*found)
        co_return shared_texts();
    std::vector<std::string> raw;
    raw.push_back(std::move(**found));
    auto parsed = co_await opener_.parser_.read_texts(account_, std::move(raw), until_);
    if (!parsed)
        co_return parsed.error();
    auto texts = std::make_shared<const mailbox::message_texts>(std::move(parsed->front()));
    opener_.cache(last_->location.body.id, texts);
    co_return shared_texts(std::move(texts));
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

// A body is not found while it is being moved to another partition, or if the email was deleted.
awaitable<result<std::optional<std::string>>> message_session::find_raw(email_id email)
{
    auto found = co_await opener_.emails_.find(account_, email);
    if (!found && found.error().code == errc::not_found)
        co_return std::nullopt;
    if (!found)
        co_return found.error();
    co_return std::move(found->raw);
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
    for (std::size_t i = 0; i < parsing.size(); ++i) {
        auto texts = std::make_shared<const mailbox::message_texts>(std::move(parsed->at(i)));
        opener_.cache(parsing[i]->about.location.body.id, texts);
        parsing[i]->texts = std::move(texts);
    }
    co_return result<void>();
}

} // namespace tempinbox::inbox
