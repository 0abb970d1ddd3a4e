#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/events/events.hpp"
#include "tempinboxctl/letter_place.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/topic_content.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

constexpr std::chrono::seconds patience{60};
constexpr std::int64_t default_limit = 100;

std::vector<std::string> event_topics()
{
    return {events::topics::email_received, events::topics::inbox_created,
            events::topics::inbox_expired};
}

record::field header_of(const kafka::record& letter, std::string_view name)
{
    const auto value = letter.header(name);
    return value ? record::field(to_clean_utf8(*value)) : record::field();
}

record to_record(const kafka::record& letter, const std::string& topic)
{
    record fields;
    fields.add("topic", topic).add("letter", place_of(letter).text());
    fields.add_time("at", from_unix_micros(letter.timestamp_millis * 1'000));
    fields.add("eventId", header_of(letter, "ce_id")).add("key", to_clean_utf8(letter.key));
    fields.add("reason", header_of(letter, "dead_letter_reason"))
        .add("consumer", header_of(letter, "dead_letter_consumer"));
    fields.add("source", header_of(letter, "dead_letter_source"));
    return fields;
}

std::string topic_of(const kafka::record& letter)
{
    const auto event = events::make_replay(letter);
    return event ? event->topic : letter.topic;
}

awaitable<result<answer>> list(session& suite, arguments given)
{
    const auto limit = given.integer("limit", 1, 1'000'000);
    if (!limit)
        co_return limit.error();
    auto topics = given.values("topic");
    if (topics.empty())
        topics = event_topics();
    for (auto& topic : topics)
        topic = events::dead_letter_topic(topic);
    auto letters =
        co_await read_topics_whole(suite.host(), suite.kafka(), std::move(topics), patience);
    if (!letters)
        co_return letters.error();
    std::sort(letters->begin(), letters->end(), [](const kafka::record& a, const kafka::record& b) {
        return std::tuple(b.timestamp_millis, b.topic, place_of(b)) <
               std::tuple(a.timestamp_millis, a.topic, place_of(a));
    });
    const auto shown =
        std::min(letters->size(), static_cast<std::size_t>(limit->value_or(default_limit)));
    std::vector<record> all;
    all.reserve(shown);
    for (std::size_t i = 0; i < shown; ++i)
        all.push_back(to_record((*letters)[i], topic_of((*letters)[i])));
    co_return answer("deadLetters", std::move(all));
}

result<letter_choice> read_choice(const arguments& given)
{
    letter_choice wanted;
    wanted.is_all = given.has("all");
    wanted.events = given.values("event");
    for (const auto& text : given.values("letter")) {
        const auto place = parse_letter_place(text);
        if (!place)
            return place.error();
        wanted.places.push_back(*place);
    }
    if (wanted.is_empty())
        return failure{errc::invalid_argument,
                       "which letters: --letter PARTITION/OFFSET, --event ID or --all"};
    return wanted;
}

awaitable<result<answer>> replay(session& suite, arguments given)
{
    const auto wanted = read_choice(given);
    if (!wanted)
        co_return wanted.error();
    const auto topic = given.at("TOPIC");
    std::vector<std::string> topics(1, events::dead_letter_topic(topic));
    auto letters =
        co_await read_topics_whole(suite.host(), suite.kafka(), std::move(topics), patience);
    if (!letters)
        co_return letters.error();
    const auto chosen = choose_letters(std::move(*letters), *wanted);
    if (!chosen)
        co_return chosen.error();

    std::vector<record> shown;
    std::vector<kafka::message> messages;
    for (const auto& letter : *chosen) {
        shown.push_back(to_record(letter, topic));
        messages.push_back(events::make_replay(letter).value());
    }
    const auto written =
        co_await write_messages(suite.host(), suite.kafka(), std::move(messages), patience);
    if (!written)
        co_return written.error();
    co_return answer("replayed", std::move(shown));
}

} // namespace

std::vector<command> dead_letter_commands()
{
    std::vector<command> commands;

    auto& listing = commands.emplace_back(
        "dead-letter list",
        "Lists events that a consumer could not handle, newest first, with the reason");
    listing.options.emplace_back("topic", "T",
                                 "of this topic, such as email.received; without it of all three",
                                 option::kind::repeated);
    listing.options.emplace_back("limit", "N", "how many at most, by default 100",
                                 option::kind::optional);
    listing.run = list;

    auto& replaying = commands.emplace_back("dead-letter replay",
                                            "Writes chosen events to their topic again, for all "
                                            "its consumers, once the reason is gone; "
                                            "the letters stay until their time is over");
    replaying.positionals.emplace_back("TOPIC", "the events' topic, such as email.received");
    replaying.options.emplace_back("letter", "P/O",
                                   "the letter of that partition and offset, as listed",
                                   option::kind::repeated);
    replaying.options.emplace_back("event", "ID", "the letters of that event",
                                   option::kind::repeated);
    replaying.options.emplace_back("all", "", "all letters of the topic", option::kind::flag);
    replaying.run = replay;
    return commands;
}

} // namespace tempinbox::ctl
