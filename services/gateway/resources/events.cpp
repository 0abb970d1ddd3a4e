#include "gateway/resources/events.hpp"

#include "common/async/gather.hpp"
#include "common/core/text.hpp"
#include "common/json/writer.hpp"
#include "gateway/pipeline/query_reader.hpp"
#include "gateway/pipeline/tagged_account.hpp"
#include "gateway/resources/feed_cursor.hpp"

#include <algorithm>
#include <map>

namespace tempinbox::gateway {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_tag_length = 50;
constexpr int max_limit = 500;
constexpr std::chrono::hours max_age{72};

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

result<feed_query> read_query(const http::request& received, const caller& who)
{
    query_reader query(received);
    feed_query read;
    const auto after = query.text("after", 1, max_feed_cursor_length);
    read.since = read_since(query, who.now);
    const auto types = query.choices("types", names_of_types());
    const auto tag = query.text("tag", 1, max_tag_length);
    const auto inbox = query.text("inboxId", 1, max_feed_cursor_length);
    read.limit = static_cast<int>(query.integer("limit", read.limit, 1, max_limit));
    read.wait = std::chrono::seconds(query.integer("waitSeconds", 0, 0, 60));
    if (after && read.since)
        query.fail("since must not be given with after: each says where to begin");
    if (const auto all_known = query.finish(); !all_known)
        return all_known.error();

    if (after)
        read.after = *after;
    if (inbox) {
        const auto id = inbox_id::parse(*inbox);
        if (!id)
            return id.error();
        read.inbox = *id;
    }
    if (who.tag())
        read.tags.push_back(*who.tag());
    if (tag && tag != who.tag())
        read.tags.push_back(*tag);
    auto allowed = allowed_types(types, who);
    if (!allowed)
        return allowed.error();
    read.types = std::move(*allowed);
    return read;
}

awaitable<result<bool>> has_tags(const std::vector<std::string>& tags, std::string inbox,
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

// Not_found for an inbox that does not exist for the caller; an ended one does.
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
    const auto is_tagged =
        co_await has_tags(query.tags, query.inbox->text(), who.account(), inboxes);
    if (!is_tagged)
        co_return is_tagged.error();
    if (!*is_tagged)
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
    if (is_visible && !query.since && who.tag()) {
        const std::vector<std::string> tags(1, *who.tag());
        const auto is_tagged =
            co_await has_tags(tags, found->inbox_id(), who.account(), services.inboxes);
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

// Why there is no going on from a place.
http::response lost_response(const webhooks::v1::ReadEventsResponse& read, const caller& who)
{
    const auto resume = make_feed_cursor(who.account(), {read.epoch(), read.resume_position()});
    if (read.outcome() == webhooks::v1::FEED_OUTCOME_RESET) {
        auto refused =
            http::error_response(error_reason::cursor_reset,
                                 "The events were put back to an earlier moment; go on after " +
                                     resume + " and drop what you have by its eventId");
        refused.set("X-Resume-After", resume);
        return refused;
    }
    // How many there were of others is not for a key with a tag.
    const auto missed = who.tag() ? std::string() : std::to_string(read.missed());
    auto refused = http::error_response(
        error_reason::cursor_expired,
        "The events behind this cursor are gone or were not recorded" +
            (missed.empty() ? missed : ", " + missed + " positions") + "; go on after " + resume);
    refused.set("X-Resume-After", resume);
    if (!missed.empty())
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
    std::shared_ptr<const void> place_taken;
    std::shared_ptr<feed_hub::watch> watch;
    if (query->wait.count() > 0) {
        auto taken = services.long_polls.take_slot(who.account(), who.limits().burst_per_second);
        if (!taken)
            co_return refuse(taken.error());
        place_taken = std::move(*taken);
        watch = std::make_shared<feed_hub::watch>(services.feeds, who.account());
        received.on_hang_up = [weak = std::weak_ptr(watch)] {
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
        const auto page = co_await make_page(**read, *query, who, services.inboxes);
        if (!page)
            co_return refuse(page.error());
        *at = page->end;
        bool is_answer = !page->events.empty() || !watch || clock::now() >= deadline;
        if (!is_answer && !page->has_more)
            is_answer = !co_await watch->wait_beyond(*at, deadline);
        if (is_answer || watch->has_ended()) {
            received.on_hang_up = nullptr;
            co_return reserve_response(http::ok_json(to_json(*page, who.account())), who.account(),
                                       services.memory);
        }
    }
}

} // namespace tempinbox::gateway
