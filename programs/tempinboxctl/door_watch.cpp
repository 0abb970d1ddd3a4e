#include "tempinboxctl/door_watch.hpp"

#include "common/events/events.hpp"
#include "common/json/writer.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::ctl {
namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t max_events = 1'000'000; // at one door
constexpr auto poll_interval = 50ms;
constexpr auto away_interval = 500ms;
// Until a webhook is in force at every dispatcher, and by how much clocks may differ.
constexpr auto opening_time = 3s;
constexpr auto kafka_timeout = 30s;
constexpr int page_size = 100;

// Whether the call can be made again: the service, or a part of it, is away or busy.
bool is_passing(const failure& why)
{
    return why.code == errc::unavailable || why.code == errc::rate_limited ||
           why.code == errc::internal;
}

time_point time_of(const json::value& object, std::string_view name)
{
    return parse_iso8601(text_field(object, name)).value_or(time_point());
}

// An event's body, as the feed and webhooks have it.
door_event read_payload(const json::value& payload)
{
    door_event event;
    event.type = text_field(payload, "event");
    event.time = time_of(payload, "timestamp");
    if (const auto data = payload.find("data"))
        event.inbox = text_field(*data, "inboxId");
    return event;
}

} // namespace

door_watch::door_watch(session& suite, door_request request)
    : suite_(suite),
      request_(std::move(request)),
      api_(suite.host(), request_.api)
{}

awaitable<result<door_findings>> door_watch::run()
{
    const auto opened = co_await open();
    if (!opened) {
        co_await close();
        co_return opened.error();
    }
    auto found = co_await watch();
    co_await close();
    co_return found;
}

awaitable<result<void>> door_watch::open()
{
    const auto account = co_await api_.call("GET", "/v1/account", "", 200, request_.api.timeout);
    if (!account)
        co_return account.error();
    const auto described = read_body(*account);
    if (!described)
        co_return described.error();
    account_ = text_field(*described, "accountId");
    const auto latest = co_await api_.call("GET", "/v1/events", "", 200, request_.api.timeout);
    if (!latest)
        co_return latest.error();
    const auto page = read_body(*latest);
    if (!page)
        co_return page.error();
    cursor_ = text_field(*page, "nextCursor");
    const auto topics = co_await open_topics();
    if (!topics)
        co_return topics.error();
    co_return co_await open_webhook();
}

awaitable<result<void>> door_watch::open_topics()
{
    namespace topics = events::topics;
    reader_ = std::make_unique<kafka::broadcast_reader>(
        suite_.host(), suite_.kafka(),
        std::vector<std::string>{topics::email_received, topics::inbox_created,
                                 topics::inbox_expired},
        [this](const std::vector<kafka::record>& batch) {
            for (const auto& one : batch)
                take_record(one);
        });
    reader_->start();
    const auto deadline = steady::now() + kafka_timeout;
    while (!reader_->is_current()) {
        if (steady::now() >= deadline)
            co_return failure(errc::unavailable, "Kafka does not answer, or a topic is missing");
        co_await pause(poll_interval);
    }
    co_return result<void>();
}

void door_watch::take_record(const kafka::record& read)
{
    const auto id = read.header("ce_id");
    if (!id || read.header("ce_accountid") != account_)
        return;
    door_event event;
    event.type = read.header("ce_type").value_or("");
    event.inbox = read.key;
    event.time = parse_iso8601(read.header("ce_time").value_or("")).value_or(time_point());
    topics_.add(std::string(*id), std::move(event));
}

awaitable<result<void>> door_watch::open_webhook()
{
    if (!request_.receiver)
        co_return result<void>();
    // An address that cannot be bound is a refusal like any other.
    try {
        receiver_.emplace(suite_.host(), *request_.receiver);
    } catch (const std::exception& error) {
        co_return failure(errc::unavailable, "the receiver cannot listen at " +
                                                 request_.receiver->text() + ": " + error.what());
    }
    receiver_->on_event([this](const http::request& came) {
        if (const auto payload = json::value::parse(came.body); payload)
            webhook_.add(std::string(*came.header("webhook-id")), read_payload(*payload));
    });
    json::writer body;
    body.begin_object().member("url", "http://" + request_.receiver->text() + "/doors");
    body.member("description", "compares doors").end_object();
    const auto answered =
        co_await api_.call("POST", "/v1/webhooks", body.take(), 201, request_.api.timeout);
    if (!answered)
        co_return answered.error();
    const auto webhook = read_body(*answered);
    if (!webhook)
        co_return webhook.error();
    webhook_id_ = text_field(*webhook, "webhookId");
    receiver_->set_secret(secret(text_field(*webhook, "secret")));
    co_return result<void>();
}

awaitable<result<door_findings>> door_watch::watch()
{
    auto& clock = suite_.host().clock();
    // In whole milliseconds, as events and the API have times: otherwise an email of the last one
    // would be among the events and not in the list.
    from_ = std::chrono::floor<std::chrono::milliseconds>(clock.now()) + opening_time;
    until_ = from_ + request_.time;
    const auto end = until_ + request_.settling;
    suite_.print_line("comparing what happens in the next " +
                      std::to_string(request_.time.count()) + " s");
    for (;;) {
        auto read = co_await read_feed();
        if (read && clock.now() >= until_)
            read = co_await list_emails();
        if (!read && !is_passing(read.error()))
            co_return read.error();
        if (is_full())
            co_return failure(errc::invalid_argument,
                              "too many events came: compare for a shorter time");
        if (clock.now() >= until_ + opening_time) {
            door_findings found(doors(), from_, until_);
            if ((read && found.are_good()) || clock.now() >= end)
                co_return found;
        }
        if (!read)
            co_await pause(away_interval);
    }
}

// What is there, or comes within a second.
awaitable<result<void>> door_watch::read_feed()
{
    const auto answered = co_await api_.call("GET", "/v1/events?waitSeconds=1&after=" + cursor_, "",
                                             200, request_.api.timeout + 1s);
    if (!answered)
        co_return answered.error();
    const auto page = read_body(*answered);
    if (!page)
        co_return page.error();
    if (const auto events = page->find("events"); events && events->is_array())
        for (const auto& event : events->items())
            if (const auto payload = event.find("payload"))
                feed_.add(text_field(event, "eventId"), read_payload(*payload));
    cursor_ = text_field(*page, "nextCursor");
    co_return result<void>();
}

// All of the time anew: an email is listed as long as it is there.
awaitable<result<void>> door_watch::list_emails()
{
    emails_.clear();
    const auto path = "/v1/emails?limit=" + std::to_string(page_size) +
                      "&since=" + to_iso8601(from_) + "&until=" + to_iso8601(until_);
    std::string cursor;
    do {
        const auto answered =
            co_await api_.call("GET", cursor.empty() ? path : path + "&cursor=" + cursor, "", 200,
                               request_.api.timeout);
        if (!answered)
            co_return answered.error();
        const auto page = read_body(*answered);
        if (!page)
            co_return page.error();
        if (const auto emails = page->find("emails"); emails && emails->is_array())
            for (const auto& email : emails->items()) {
                door_event event;
                event.type = events::topics::email_received;
                event.inbox = text_field(email, "inboxId");
                event.time = time_of(email, "receivedAt");
                emails_.add(text_field(email, "emailId"), std::move(event));
            }
        cursor = text_field(*page, "nextCursor");
    } while (!cursor.empty() && emails_.size() < max_events);
    co_return result<void>();
}

bool door_watch::is_full() const
{
    for (const auto* each : doors())
        if (each->size() >= max_events)
            return true;
    return false;
}

std::vector<const door*> door_watch::doors() const
{
    std::vector<const door*> all{&topics_, &feed_, &emails_};
    if (request_.receiver)
        all.insert(all.begin() + 1, &webhook_);
    return all;
}

awaitable<void> door_watch::close()
{
    if (reader_)
        reader_->stop();
    if (!webhook_id_.empty())
        co_await api_.call("DELETE", "/v1/webhooks/" + webhook_id_, "", 200, request_.api.timeout);
}

awaitable<void> door_watch::pause(std::chrono::milliseconds time)
{
    boost::asio::steady_timer timer(suite_.host().executor(), time);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

} // namespace tempinbox::ctl
