#include "gateway/dashboard/event_stream.hpp"

#include "common/async/reset_event.hpp"
#include "common/events/events.hpp"
#include "common/json/writer.hpp"
#include "gateway/json/fields.hpp"

#include <algorithm>
#include <deque>

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// After this time a stream ends; the page opens it again, perhaps at another replica.
constexpr auto max_stream_time = 15min;
constexpr std::string_view stream_preamble = "retry: 2000\nevent: ready\ndata: {}\n\n";
constexpr std::string_view refetch_event = "event: refetch\ndata: {}\n\n";
constexpr std::string_view heartbeat = ": alive\n\n";

std::string event_text(std::string_view name, std::string_view id, std::string json)
{
    return std::string("event: ")
        .append(name)
        .append("\nid: ")
        .append(id)
        .append("\ndata: ")
        .append(json)
        .append("\n\n");
}

std::string email_text(const events::v1::EmailReceived& email)
{
    json::writer out;
    out.begin_object();
    out.member("emailId", email.email_id());
    out.member("inboxId", email.inbox_id());
    out.member("sequence", email.sequence());
    out.member("from", email.from());
    out.member("subject", email.subject());
    put_time(out, "receivedAt", email.has_received_at(), email.received_at());
    out.member("hasCode", email.has_code());
    out.end_object();
    return event_text("email.received", email.email_id(), out.take());
}

std::string expiry_text(const events::v1::InboxExpired& ended)
{
    json::writer out;
    out.begin_object().member("inboxId", ended.inbox_id()).end_object();
    return event_text("inbox.expired", ended.inbox_id(), out.take());
}

} // namespace

// An open stream, owned by its connection.
class event_stream::stream
{
public:
    stream(event_stream& parent, account_id account, std::string session_digest)
        : parent_(parent),
          parent_presence_(parent.presence_),
          account_(account),
          session_(std::move(session_digest)),
          times_(parent.times_),
          has_news_(parent.host_.executor(), async::reset_event::mode::automatic),
          queue_{std::string(stream_preamble)}
    {}

    ~stream()
    {
        if (parent_presence_.expired())
            return;
        const auto [first, last] = parent_.streams_.equal_range(account_);
        const auto gone =
            std::find_if(first, last, [](const auto& entry) { return entry.second.expired(); });
        if (gone != last)
            parent_.streams_.erase(gone);
        parent_.open_streams_.Set(static_cast<double>(parent_.streams_.size()));
    }

    void push(std::string_view text)
    {
        if (queue_.size() >= max_queued)
            queue_.assign(1, std::string(refetch_event));
        else
            queue_.emplace_back(text);
        has_news_.set();
    }

    void end()
    {
        is_ended_ = true;
        has_news_.set();
    }

    bool is_of(std::string_view session_digest) const { return session_ == session_digest; }

    // Returns the next text, after the session was checked within the interval; empty at the end.
    awaitable<std::string> next()
    {
        for (;;) {
            if (has_ended())
                co_return std::string();
            const bool is_check_due = steady::now() - checked_at_ >= times_.interval;
            if (is_check_due && !co_await check_session())
                co_return std::string();
            if (has_ended()) // ended during the check
                co_return std::string();
            if (!queue_.empty())
                co_return take();
            if (is_check_due)
                co_return std::string(heartbeat);
            co_await has_news_.wait_until(checked_at_ + times_.interval);
        }
    }

private:
    std::string take()
    {
        std::string text;
        for (const auto& piece : queue_)
            text += piece;
        queue_.clear();
        return text;
    }

    bool has_ended() const
    {
        return is_ended_ || parent_presence_.expired() || steady::now() - began_ >= max_stream_time;
    }

    // Whether the session is open. If the check fails, the stream goes on until the last successful
    // check is too old.
    awaitable<bool> check_session()
    {
        checked_at_ = steady::now();
        try {
            if (!co_await parent_.is_open_(session_))
                co_return false;
            last_open_at_ = checked_at_;
        } catch (const std::exception&) {
            // While the session cannot be checked, its stream lives on until it is too old.
            co_return steady::now() - last_open_at_ < times_.max_age;
        }
        co_return true;
    }

    event_stream& parent_;
    std::weak_ptr<const bool> parent_presence_;
    account_id account_;
    std::string session_;
    check_times times_;
    async::reset_event has_news_; // or is ended
    std::deque<std::string> queue_;
    steady::time_point began_ = steady::now();
    // The session that opened the stream was just found open.
    steady::time_point checked_at_ = began_;
    steady::time_point last_open_at_ = began_;
    bool is_ended_ = false;
};

event_stream::event_stream(runtime::host& host, session_check is_open, check_times times)
    : host_(host),
      is_open_(std::move(is_open)),
      times_(times),
      open_streams_(host.metrics().gauge("tempinbox_gateway_event_streams",
                                         "Open event streams of dashboards"))
{}

result<std::shared_ptr<const http::body_source>> event_stream::open(account_id account,
                                                                    std::string session_digest)
{
    if (is_ending_ || streams_.size() >= max_streams)
        return failure{errc::unavailable, "No more streams of events can be opened here; try again",
                       error_reason::busy};
    if (streams_.count(account) >= max_streams_per_account)
        return failure{errc::rate_limited,
                       "An account can have " + std::to_string(max_streams_per_account) +
                           " streams of events open at once",
                       error_reason::stream_limit};
    const auto fresh = std::make_shared<stream>(*this, account, std::move(session_digest));
    streams_.emplace(account, fresh);
    open_streams_.Set(static_cast<double>(streams_.size()));
    auto source = std::make_shared<http::body_source>();
    source->next = [fresh] { return next(fresh); };
    source->stop = [weak = std::weak_ptr(fresh)] {
        if (const auto alone = weak.lock())
            alone->end();
    };
    return std::shared_ptr<const http::body_source>(std::move(source));
}

// Keeps the stream alive while it waits.
awaitable<std::string> event_stream::next(std::shared_ptr<stream> self)
{
    co_return co_await self->next();
}

void event_stream::take_events(const std::vector<kafka::record>& batch)
{
    if (streams_.empty())
        return;
    for (const auto& event : batch)
        take_event(event);
}

void event_stream::take_event(const kafka::record& event)
{
    if (event.topic == events::topics::inbox_activity) {
        const auto email = events::read_email_received(event);
        const auto owner =
            email ? account_id::parse(email->account_id()) : result<account_id>(email.error());
        if (owner && streams_.contains(*owner))
            send(*owner, email_text(*email));
    } else if (event.topic == events::topics::inbox_expired) {
        const auto ended = events::read_inbox_expired(event);
        const auto owner =
            ended ? account_id::parse(ended->account_id()) : result<account_id>(ended.error());
        if (owner && streams_.contains(*owner))
            send(*owner, expiry_text(*ended));
    }
}

void event_stream::send(account_id account, std::string_view text)
{
    const auto [first, last] = streams_.equal_range(account);
    for (auto entry = first; entry != last; ++entry)
        if (const auto open = entry->second.lock())
            open->push(text);
}

void event_stream::end_session(std::string_view session_digest)
{
    for (const auto& [account, entry] : streams_)
        if (const auto open = entry.lock(); open && open->is_of(session_digest))
            open->end();
}

void event_stream::end_sessions_of(account_id account)
{
    const auto [first, last] = streams_.equal_range(account);
    for (auto entry = first; entry != last; ++entry)
        if (const auto open = entry->second.lock())
            open->end();
}

void event_stream::interrupt()
{
    is_ending_ = true;
    for (const auto& [account, entry] : streams_)
        if (const auto open = entry.lock())
            open->end();
}

} // namespace tempinbox::gateway
