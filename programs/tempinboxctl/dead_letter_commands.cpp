#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/events/events.hpp"
#include "tempinboxctl/record_selection.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/topic_content.hpp"

#include <algorithm>

namespace tempinbox::ctl {
namespace {

constexpr std::chrono::seconds timeout{60};
constexpr std::int64_t default_limit = 100;

std::vector<std::string> event_topics()
{
    return {events::topics::email_received, events::topics::inbox_created,
            events::topics::inbox_expired};
}

record::field header_of(const kafka::record& dead_letter, std::string_view name)
{
    const auto value = dead_letter.header(name);
    return value ? record::field(to_clean_utf8(*value)) : record::field();
}

record to_record(const kafka::record& dead_letter, const std::string& topic)
{
    record fields;
    fields.add("topic", topic).add("letter", position_of(dead_letter).text());
    fields.add_time("at", from_unix_micros(dead_letter.timestamp_millis * 1'000));
    fields.add("eventId", header_of(dead_letter, "ce_id"))
        .add("key", to_clean_utf8(dead_letter.key));
    fields.add("reason", header_of(dead_letter, "dead_letter_reason"))
        .add("consumer", header_of(dead_letter, "dead_letter_consumer"));
    fields.add("source", header_of(dead_letter, "dead_letter_source"));
    return fields;
}

std::string topic_of(const kafka::record& dead_letter)
{
    const auto event = events::make_replay(dead_letter);
    return event ? event->topic : dead_letter.topic;
}

awaitable<result<command_result>> list(session& suite, arguments given)
{
    const auto limit = given.integer("limit", 1, 1'000'000);
    if (!limit)
        co_return limit.error();
    auto topics = given.values("topic");
    if (topics.empty())
        topics = event_topics();
    for (auto& topic : topics)
        topic = events::dead_letter_topic(topic);
    auto dead_letters =
        co_await read_topics_whole(suite.host(), suite.kafka(), std::move(topics), timeout);
    if (!dead_letters)
        co_return dead_letters.error();
    std::sort(dead_letters->begin(), dead_letters->end(),
              [](const kafka::record& a, const kafka::record& b) {
                  return std::tuple(b.timestamp_millis, b.topic, position_of(b)) <
                         std::tuple(a.timestamp_millis, a.topic, position_of(a));
              });
    const auto shown =
        std::min(dead_letters->size(), static_cast<std::size_t>(limit->value_or(default_limit)));
    std::vector<record> all;
    all.reserve(shown);
    for (std::size_t i = 0; i < shown; ++i)
        all.push_back(to_record((*dead_letters)[i], topic_of((*dead_letters)[i])));
    co_return command_result("deadLetters", std::move(all));
}

result<record_selection> read_selection(const arguments& given)
{
    record_selection selection;
    selection.is_all = given.has("all");
    selection.events = given.values("event");
    for (const auto& text : given.values("letter")) {
        const auto position = parse_record_position(text);
        if (!position)
            return position.error();
        selection.positions.push_back(*position);
    }
    if (selection.is_empty())
        return failure{errc::invalid_argument,
                       "which dead letters: --letter PARTITION/OFFSET, --event ID or --all"};
    return selection;
}

awaitable<result<command_result>> replay(session& suite, arguments given)
{
    const auto selection = read_selection(given);
    if (!selection)
        co_return selection.error();
    const auto topic = given.at("TOPIC");
    std::vector<std::string> topics(1, events::dead_letter_topic(topic));
    auto dead_letters =
        co_await read_topics_whole(suite.host(), suite.kafka(), std::move(topics), timeout);
    if (!dead_letters)
        co_return dead_letters.error();
    const auto chosen = select_records(std::move(*dead_letters), *selection);
    if (!chosen)
        co_return chosen.error();

    std::vector<record> shown;
    std::vector<kafka::message> messages;
    for (const auto& dead_letter : *chosen) {
        shown.push_back(to_record(dead_letter, topic));
        messages.push_back(events::make_replay(dead_letter).value());
    }
    const auto written =
        co_await write_messages(suite.host(), suite.kafka(), std::move(messages), timeout);
    if (!written)
        co_return written.error();
    if (*written > 0)
        suite.print_line(std::to_string(*written) +
                         " sent again, since Kafka had not acknowledged them");
    co_return command_result("replayed", std::move(shown));
}

} // namespace

std::vector<command> dead_letter_commands()
{
    std::vector<command> commands;

    auto& listing = commands.emplace_back("dead-letter list",
                                          "Lists dead letters (events that a consumer could not "
                                          "handle), newest first, with the reason");
    listing.options.emplace_back("topic", "T",
                                 "of this topic, such as email.received; without it of all three",
                                 option::kind::repeated);
    listing.options.emplace_back("limit", "N", "maximum number, by default 100",
                                 option::kind::optional);
    listing.run = list;

    auto& replaying = commands.emplace_back(
        "dead-letter replay",
        "Writes chosen dead letters to their topic again, for all its consumers, once the reason "
        "is gone; the dead letters stay until the retention of their topic ends");
    replaying.positionals.emplace_back("TOPIC", "the events' topic, such as email.received");
    replaying.options.emplace_back("letter", "P/O",
                                   "the dead letter of that partition and offset, as listed",
                                   option::kind::repeated);
    replaying.options.emplace_back("event", "ID", "the dead letters of that event",
                                   option::kind::repeated);
    replaying.options.emplace_back("all", "", "all dead letters of the topic", option::kind::flag);
    replaying.run = replay;
    return commands;
}

} // namespace tempinbox::ctl
