#include "gateway/resources/events.hpp"

#include "common/async/gather.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "gateway/long_poll/feed_cursor.hpp"
#include "gateway/pipeline/negotiation.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/pipeline/tagged_account.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::gateway {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t max_tag_length = 50;
constexpr int max_limit = 500;
constexpr std::chrono::hours max_age{72};
constexpr auto max_stream_time = 15min;
constexpr auto heartbeat_interval = 15s;
// Of a stream's key: a revoked one ends its streams within a second or two checks of the cache.
constexpr auto key_check_interval = 500ms;

struct event_type
{
    const char* name;
    accounts::scope needed;
};
constexpr event_type event_types[] = {
    {"email.received", accounts::scope::emails_read},
    {"inbox.created", accounts::scope::inboxes_read},
    {"inbox.expired", accounts::scope::inboxes_read},
};

// The parameters of a reading.
struct feed_query
{
    std::string after = "latest";
    std::optional<time_point> since;
    std::vector<std::string> types; // those that the key may see
    std::optional<inbox_id> inbox;
    std::vector<std::string> tags; // of the request and of the key
    int limit = 100;
    std::chrono::seconds wait{0};
    bool is_stream = false;
};

// What a page has, after all filters.
struct event_page
{
    std::vector<const webhooks::v1::FeedEvent*> events;
    feed_position end; // behind the last event that was looked at
    bool has_more = false;
};

std::vector<std::string> names_of_types()
{
    std::vector<std::string> names;
    for (const auto& type : event_types)
        names.emplace_back(type.name);
    return names;
}

// The types that were asked for, or else all that the key may see.
result<std::vector<std::string>> allowed_types(const std::vector<std::string>& asked,
                                               const caller& who)
{
    std::vector<std::string> allowed;
    for (const auto& type : event_types) {
        const bool is_asked = std::find(asked.begin(), asked.end(), type.name) != asked.end();
        if (who.may(type.needed)) {
            if (asked.empty() || is_asked)
                allowed.emplace_back(type.name);
        } else if (is_asked) {
            return failure{errc::permission_denied,
                           "Events of type " + std::string(type.name) +
                               " need an API key with the scope " +
                               std::string(accounts::to_string(type.needed)),
                           error_reason::scope_required};
        }
    }
    if (allowed.empty())
        return failure{errc::permission_denied,
                       "Events need an API key with the scope emails:read or inboxes:read",
                       error_reason::scope_required};
    return allowed;
}

std::optional<time_point> read_since(query_reader& query, time_point now)
{
    const auto given = query.text("since", 1, max_feed_cursor_length);
    if (!given)
        return std::nullopt;
    const auto since = parse_iso8601(*given);
    if (!since || *since > now || *since < now - max_age)
        query.fail("since must be a time of the last 72 hours such as "
                   "2026-11-21T10:00:00.000Z, not " +
                   quote(*given));
    return since;
}

std::vector<std::string> tags_of_key(const caller& who)
{
    return who.tag() ? std::vector<std::string>(1, *who.tag()) : std::vector<std::string>();
}

// Server-sent events for who prefers them.
bool wants_stream(const http::request& received)
{
    return choose_media_type(joined_header(received, "Accept"),
                             {"application/json", "text/event-stream"}) == 1;
}

result<feed_query> read_query(const http::request& received, const caller& who)
{
    query_reader query(received);
    feed_query read;
    read.is_stream = wants_stream(received);
    const auto after = query.text("after", 1, max_feed_cursor_length);
    read.since = read_since(query, who.now);
    const auto types = query.choices("types", names_of_types());
    const auto tag = query.text("tag", 1, max_tag_length);
    const auto inbox = query.text("inboxId", 1, max_feed_cursor_length);
    if (!read.is_stream) {
        read.limit = static_cast<int>(query.integer("limit", read.limit, 1, max_limit));
        read.wait = std::chrono::seconds(query.integer("waitSeconds", 0, 0, 60));
    }
    if (after && read.since)
        query.fail("since must not be given with after: each says where to begin");
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    if (after)
        read.after = *after;
    // HTML Standard 9.2.4: what a client sends that connects again.
    const auto last = received.header("Last-Event-ID");
    if (read.is_stream && last && !last->empty()) {
        if (last->size() > max_feed_cursor_length)
            return failure{errc::invalid_argument, "Last-Event-ID must be a cursor",
                           error_reason::invalid_cursor};
        read.after = *last;
        read.since.reset();
    }
    if (inbox) {
        const auto id = inbox_id::parse(*inbox);
        if (!id)
            return id.error();
        read.inbox = *id;
    }
    read.tags = tags_of_key(who);
    if (tag && tag != who.tag())
        read.tags.push_back(*tag);
    auto allowed = allowed_types(types, who);
    if (!allowed)
        return allowed.error();
    read.types = std::move(*allowed);
    return read;
}

awaitable<result<bool>> has_tags(std::vector<std::string> tags, std::string inbox,
                                 account_id account, inbox_client& inboxes)
{
    for (const auto& tag : tags) {
        inbox::v1::CheckTagRequest request;
        request.mutable_tagged_account()->set_account_id(account.text());
        request.mutable_tagged_account()->set_tag(tag);
        request.set_inbox_id(inbox);
        const auto found =
            co_await inboxes.call_batched(inbox_methods::check_tag, std::move(request), account);
        if (!found && found.error().code == errc::not_found)
            co_return false;
        if (!found)
            co_return found.error();
    }
    co_return true;
}

// Not_found for an inbox that does not exist for the caller, as one without its key's tag; an ended
// one does.
awaitable<result<void>> check_inbox(const feed_query& query, const caller& who,
                                    inbox_client& inboxes)
{
    inbox::v1::GetInboxRequest request;
    request.set_account_id(who.account().text());
    request.set_inbox_id(query.inbox->text());
    const auto found =
        co_await inboxes.call_batched(inbox_methods::get_inbox, std::move(request), who.account());
    if (!found)
        co_return found.error();
    const auto is_visible =
        co_await has_tags(tags_of_key(who), query.inbox->text(), who.account(), inboxes);
    if (!is_visible)
        co_return is_visible.error();
    if (!*is_visible)
        co_return failure{errc::not_found, "Inbox " + query.inbox->text() + " does not exist"};
    co_return result<void>{};
}

// Where a time, or an event, is in the feed.
awaitable<result<feed_position>> find_position_of(const feed_query& query, const caller& who,
                                                  feed_services services)
{
    webhooks::v1::FindPositionRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    if (query.since)
        request.set_since(to_unix_micros(*query.since));
    else
        request.set_event_id(query.after);
    const auto found =
        co_await services.webhooks.call(webhook_methods::find_position, std::move(request));
    if (!found && found.error().code != errc::not_found)
        co_return found.error();
    bool is_visible = found.has_value();
    if (is_visible && !query.since) {
        const auto is_tagged =
            co_await has_tags(tags_of_key(who), found->inbox_id(), who.account(), services.inboxes);
        if (!is_tagged)
            co_return is_tagged.error();
        is_visible = *is_tagged;
    }
    if (!is_visible)
        co_return failure{errc::invalid_argument,
                          "after names event " + query.after + ", which the feed does not have",
                          error_reason::invalid_cursor};
    co_return feed_position{found->epoch(), found->position()};
}

awaitable<result<feed_position>> find_begin(const feed_query& query, const caller& who,
                                            feed_services services)
{
    const bool is_event = !query.since && event_id::parse(query.after).has_value();
    if (query.since || is_event)
        co_return co_await find_position_of(query, who, services);
    if (query.after != "latest" && query.after != "earliest")
        co_return read_feed_cursor(who.account(), query.after);
    webhooks::v1::OpenFeedRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    const auto opened =
        co_await services.webhooks.call(webhook_methods::open_feed, std::move(request));
    if (!opened)
        co_return opened.error();
    co_return feed_position{opened->epoch(),
                            query.after == "latest" ? opened->latest() : opened->earliest()};
}

webhooks::v1::ReadEventsRequest make_request(const feed_query& query, const caller& who,
                                             feed_position from)
{
    webhooks::v1::ReadEventsRequest request;
    *request.mutable_account() = plans::to_proto(who.state);
    request.set_epoch(from.epoch);
    request.set_position(from.position);
    // Tags are looked up here, so more than the page takes may have to be looked at.
    request.set_limit(query.tags.empty() ? query.limit : max_limit);
    if (query.types.size() < std::size(event_types))
        for (const auto& type : query.types)
            request.add_types(type);
    if (query.inbox)
        request.set_inbox_id(query.inbox->text());
    return request;
}

// Whether the events' inboxes have the tags now.
awaitable<result<std::map<std::string, bool>>>
find_tagged(const webhooks::v1::ReadEventsResponse& read, const feed_query& query,
            const caller& who, inbox_client& inboxes)
{
    std::map<std::string, bool> tagged;
    for (const auto& event : read.events())
        tagged.emplace(event.inbox_id(), false);
    std::vector<awaitable<result<bool>>> checks;
    checks.reserve(tagged.size());
    for (const auto& [inbox, is_tagged] : tagged)
        checks.push_back(has_tags(query.tags, inbox, who.account(), inboxes));
    const auto found = co_await async::gather(std::move(checks));
    auto answer = found.begin();
    for (auto& [inbox, is_tagged] : tagged) {
        if (!*answer)
            co_return answer->error();
        is_tagged = **answer++;
    }
    co_return tagged;
}

awaitable<result<event_page>> make_page(const webhooks::v1::ReadEventsResponse& read,
                                        const feed_query& query, const caller& who,
                                        inbox_client& inboxes)
{
    event_page page;
    page.end = {read.epoch(), read.position()};
    std::map<std::string, bool> tagged;
    if (!query.tags.empty() && read.events_size() > 0) {
        auto found = co_await find_tagged(read, query, who, inboxes);
        if (!found)
            co_return found.error();
        tagged = std::move(*found);
    }
    for (const auto& event : read.events()) {
        if (!query.tags.empty() && !tagged[event.inbox_id()])
            continue;
        if (page.events.size() == static_cast<std::size_t>(query.limit)) {
            page.end.position = page.events.back()->position();
            break;
        }
        page.events.push_back(&event);
    }
    page.has_more = page.end.position < read.latest();
    co_return page;
}

std::string to_json(const event_page& page, account_id account)
{
    json::writer out;
    out.begin_object();
    out.key("events").begin_array();
    for (const auto* event : page.events) {
        out.begin_object();
        out.member("eventId", event->event_id());
        out.member("cursor", make_feed_cursor(account, {page.end.epoch, event->position()}));
        out.key("payload").raw(event->payload());
        out.end_object();
    }
    out.end_array();
    out.member("nextCursor", make_feed_cursor(account, page.end));
    out.member("hasMore", page.has_more);
    out.end_object();
    return out.take();
}

std::string resume_cursor(const webhooks::v1::ReadEventsResponse& read, const caller& who)
{
    return make_feed_cursor(who.account(), {read.epoch(), read.resume_position()});
}

// How many events there were of others is not for a key with a tag.
std::string missed_events(const webhooks::v1::ReadEventsResponse& read, const caller& who)
{
    const bool is_known = read.outcome() == webhooks::v1::FEED_OUTCOME_EXPIRED && !who.tag();
    return is_known ? std::to_string(read.missed()) : std::string();
}

std::string lost_message(const webhooks::v1::ReadEventsResponse& read, const caller& who)
{
    const auto resume = resume_cursor(read, who);
    if (read.outcome() == webhooks::v1::FEED_OUTCOME_RESET)
        return "The events were put back to an earlier moment; go on after " + resume +
               " and drop what you have by its eventId";
    const auto missed = missed_events(read, who);
    return "The events behind this cursor are gone or were not recorded" +
           (missed.empty() ? missed : ", " + missed + " positions") + "; go on after " + resume;
}

// Why there is no going on from a place.
http::response lost_response(const webhooks::v1::ReadEventsResponse& read, const caller& who)
{
    const bool is_reset = read.outcome() == webhooks::v1::FEED_OUTCOME_RESET;
    auto refused =
        http::error_response(is_reset ? error_reason::cursor_reset : error_reason::cursor_expired,
                             lost_message(read, who));
    refused.set("X-Resume-After", resume_cursor(read, who));
    if (const auto missed = missed_events(read, who); !missed.empty())
        refused.set("X-Missed-Events", missed);
    return refused;
}

http::response refuse(const failure& reason)
{
    auto refused = http::error_response(reason);
    if (reason.code == errc::rate_limited)
        refused.set("Retry-After", 1);
    return refused;
}

// What a reader that waits, or a stream, holds.
struct waiting_reader
{
    std::shared_ptr<const void> at; // among the waiting requests
    std::shared_ptr<feed_hub::watch> watch;
};

result<waiting_reader> begin_waiting(const caller& who, feed_services services)
{
    auto taken = services.long_polls.take_slot(who.account(), who.limits().burst_per_second);
    if (!taken)
        return taken.error();
    return waiting_reader{std::move(*taken),
                          std::make_shared<feed_hub::watch>(services.feeds, who.account())};
}

// The account's events as server-sent events (HTML Standard 9.2), for 15 minutes at most. The next
// page is read once the last one is written: a slow reader holds one page, never a queue. Owned by
// its connection.
class event_stream_of_feed
{
public:
    event_stream_of_feed(feed_query query, const caller& who, feed_services services,
                         feed_position begin, waiting_reader reader)
        : query_(std::move(query)),
          who_(who),
          services_(services),
          at_(begin),
          reported_(begin),
          reader_(std::move(reader))
    {}

    static awaitable<std::string> next(std::shared_ptr<event_stream_of_feed> self)
    {
        try {
            co_return co_await self->next_piece();
        } catch (const std::exception&) {
            // The stream ends; its client comes again, and is told why if that goes on.
            co_return std::string();
        }
    }
    void end() { reader_.watch->end(); }

private:
    awaitable<std::string> next_piece()
    {
        counted_.reset();
        if (!is_begun_) {
            is_begun_ = true;
            co_return "retry: 2000\nid: " + cursor(at_) + "\n\n";
        }
        while (!has_ended()) {
            if (clock::now() - checked_at_ >= key_check_interval) {
                checked_at_ = clock::now();
                if (who_.is_still_good && !co_await who_.is_still_good())
                    co_return std::string();
            }
            if (may_have_news_) {
                auto text = co_await read_page();
                if (!text.empty() || is_over_)
                    co_return text;
                continue;
            }
            if (clock::now() - sent_at_ >= heartbeat_interval)
                co_return heartbeat();
            may_have_news_ = co_await reader_.watch->wait_beyond(
                at_, std::min(checked_at_ + key_check_interval, sent_at_ + heartbeat_interval));
        }
        co_return std::string();
    }

    // Empty if nothing passed the filters.
    awaitable<std::string> read_page()
    {
        const auto read = co_await services_.feeds.read(make_request(query_, who_, at_));
        if (!*read) {
            is_over_ = true;
            co_return std::string();
        }
        if ((*read)->outcome() != webhooks::v1::FEED_OUTCOME_READ) {
            is_over_ = true;
            co_return error_event(**read);
        }
        const auto page = co_await make_page(**read, query_, who_, services_.inboxes);
        if (!page) {
            is_over_ = true;
            co_return std::string();
        }
        std::string text;
        for (const auto* event : page->events)
            text += event_text(*event, page->end.epoch);
        if (text.size() > small_response) {
            counted_ = services_.memory.try_reserve(who_.account(), text.size());
            if (!counted_) {
                is_over_ = true;
                co_return std::string();
            }
        }
        at_ = page->end;
        may_have_news_ = page->has_more;
        if (!text.empty()) {
            sent_at_ = clock::now();
            reported_ = {page->end.epoch, page->events.back()->position()};
        }
        co_return text;
    }

    std::string event_text(const webhooks::v1::FeedEvent& event, int epoch) const
    {
        json::writer out;
        out.begin_object();
        out.member("eventId", event.event_id());
        out.key("payload").raw(event.payload());
        out.end_object();
        return "id: " + cursor({epoch, event.position()}) + "\nevent: " + event.type() +
               "\ndata: " + out.take() + "\n\n";
    }

    std::string error_event(const webhooks::v1::ReadEventsResponse& read) const
    {
        const auto refused = lost_response(read, who_);
        const auto header = [&refused](std::string_view name) {
            return std::string(http::find_header(refused.headers, name).value_or(""));
        };
        const auto missed = header("X-Missed-Events");
        json::writer out;
        out.begin_object();
        out.member("code", header(http::error_code_header));
        out.member("resumeAfter", header("X-Resume-After"));
        if (missed.empty())
            out.null_member("missed");
        else
            out.key("missed").raw(missed);
        out.member("message", lost_message(read, who_));
        out.end_object();
        return "event: error\ndata: " + out.take() + "\n\n";
    }

    // An event that has an id and nothing else calls nobody, and moves the place.
    std::string heartbeat()
    {
        sent_at_ = clock::now();
        const bool has_moved = reported_ != at_;
        reported_ = at_;
        return has_moved ? "id: " + cursor(at_) + "\n: alive\n\n" : ": alive\n\n";
    }

    std::string cursor(feed_position at) const { return make_feed_cursor(who_.account(), at); }
    bool has_ended() const
    {
        return is_over_ || reader_.watch->has_ended() || clock::now() - began_ >= max_stream_time;
    }

    const feed_query query_;
    const caller who_;
    feed_services services_;
    feed_position at_;
    feed_position reported_; // the last id that the client has
    waiting_reader reader_;
    response_budget::reservation counted_; // of the page that is being written
    clock::time_point began_ = clock::now();
    clock::time_point checked_at_ = began_;
    clock::time_point sent_at_ = began_;
    bool is_begun_ = false;
    bool may_have_news_ = true;
    bool is_over_ = false;
};

http::response stream_response(std::shared_ptr<event_stream_of_feed> stream)
{
    auto source = std::make_shared<http::body_source>();
    source->next = [stream] { return event_stream_of_feed::next(stream); };
    source->stop = [weak = std::weak_ptr(stream)] {
        if (const auto alone = weak.lock())
            alone->end();
    };
    http::response response(200, "text/event-stream", "");
    response.set("X-Accel-Buffering", "no"); // nginx would buffer events
    response.source = std::move(source);
    return response;
}

} // namespace

// GET /v1/events
awaitable<http::response> list_events(http::request& received, const caller& who,
                                      feed_services services)
{
    const auto query = read_query(received, who);
    if (!query)
        co_return http::error_response(query.error());
    if (query->inbox)
        if (const auto exists = co_await check_inbox(*query, who, services.inboxes); !exists)
            co_return http::error_response(exists.error());

    // A reader that waits is registered before it reads, so that it misses no hint.
    const auto deadline = clock::now() + query->wait;
    waiting_reader reader;
    if (query->is_stream || query->wait.count() > 0) {
        auto waiting = begin_waiting(who, services);
        if (!waiting)
            co_return refuse(waiting.error());
        reader = std::move(*waiting);
        received.on_hang_up = [weak = std::weak_ptr(reader.watch)] {
            if (const auto alone = weak.lock())
                alone->end();
        };
    }
    auto at = co_await find_begin(*query, who, services);
    if (!at)
        co_return refuse(at.error());
    for (;;) {
        const auto read = co_await services.feeds.read(make_request(*query, who, *at));
        if (!*read)
            co_return refuse(read->error());
        if ((*read)->outcome() != webhooks::v1::FEED_OUTCOME_READ)
            co_return lost_response(**read, who);
        if (query->is_stream) // which reads it again
            co_return stream_response(std::make_shared<event_stream_of_feed>(
                *query, who, services, *at, std::move(reader)));
        const auto page = co_await make_page(**read, *query, who, services.inboxes);
        if (!page)
            co_return refuse(page.error());
        *at = page->end;
        bool is_answer = !page->events.empty() || !reader.watch || clock::now() >= deadline;
        if (!is_answer && !page->has_more)
            is_answer = !co_await reader.watch->wait_beyond(*at, deadline);
        if (is_answer || reader.watch->has_ended()) {
            received.on_hang_up = nullptr;
            co_return reserve_response(http::ok_json(to_json(*page, who.account())), who.account(),
                                       services.memory);
        }
    }
}

} // namespace tempinbox::gateway
