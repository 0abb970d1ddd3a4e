#include "tempinboxctl/command.hpp"

#include "common/core/text.hpp"
#include "common/events/events.hpp"
#include "common/kafka/producer.hpp"
#include "common/kafka/schema_ids.hpp"
#include "mailbox/backfill.hpp"
#include "mailbox/types.hpp"
#include "tempinboxctl/event_check.hpp"
#include "tempinboxctl/session.hpp"
#include "tempinboxctl/topic_content.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace tempinbox::ctl {
namespace {

namespace topics = events::topics;
using steady = std::chrono::steady_clock;

constexpr std::chrono::seconds write_timeout{60};
constexpr std::int64_t default_timeout_seconds = 60;
constexpr std::int64_t default_rate = 500;
constexpr std::int64_t max_rate = 100'000;
constexpr std::int64_t max_batch = 1'000;
constexpr std::chrono::seconds line_interval{5};

struct backfill_request
{
    mailbox::backfill wanted;
    std::optional<time_point> until;
    std::int64_t rate = default_rate; // events a second
    bool is_anew = false;
};

result<std::optional<time_point>> read_time(const arguments& given, const std::string& option_name)
{
    const auto text = given.value(option_name);
    if (!text)
        return std::optional<time_point>();
    const auto time = parse_iso8601(*text);
    if (!time)
        return failure{errc::invalid_argument,
                       "--" + option_name + " must be a time such as 2026-11-21T10:00:00Z, not " +
                           quote(*text)};
    return time;
}

result<std::string> read_type(const arguments& given)
{
    auto type = *given.value("type");
    for (const auto& [topic, message] : events::public_schemas())
        if (type == topic)
            return type;
    return failure{errc::invalid_argument,
                   "--type must be email.received, inbox.created, inbox.expired or inbox.state, "
                   "not " +
                       quote(type)};
}

// The services read the other topics themselves: webhooks would go out once more, and addresses of
// ended inboxes would count as live.
result<std::string> read_target(const arguments& given, const std::string& type)
{
    const bool is_state = type == topics::inbox_state;
    auto target = given.value("to-topic").value_or(is_state ? type : "");
    if (target.empty())
        return failure{errc::invalid_argument,
                       "--to-topic must name a topic of yours, which is there already"};
    const auto own = {topics::email_received, topics::inbox_created, topics::inbox_expired,
                      topics::account_state};
    if (std::find(own.begin(), own.end(), target) != own.end() ||
        (target == topics::inbox_state && !is_state))
        return failure{errc::invalid_argument,
                       "--to-topic must not be " + target +
                           ": the services read that topic, too. Make one for the consumers that "
                           "need the events again"};
    return target;
}

result<backfill_request> read_request(const arguments& given)
{
    backfill_request request;
    auto type = read_type(given);
    if (!type)
        return type.error();
    auto target = read_target(given, *type);
    if (!target)
        return target.error();
    const auto since = read_time(given, "since"), until = read_time(given, "until");
    if (!since)
        return since.error();
    if (!until)
        return until.error();
    const auto rate = given.integer("rate", 1, max_rate);
    if (!rate)
        return rate.error();
    request.wanted.type = std::move(*type);
    request.wanted.to_topic = std::move(*target);
    request.wanted.since = since->value_or(time_point());
    request.until = *until;
    if (request.until && *request.until <= request.wanted.since)
        return failure{errc::invalid_argument, "--until must be later than --since"};
    request.rate = rate->value_or(default_rate);
    request.is_anew = given.has("again");
    return request;
}

record to_record(const mailbox::backfill& wanted, const mailbox::backfill_progress& progress)
{
    record fields;
    fields.add("type", wanted.type).add("toTopic", wanted.to_topic);
    fields.add_time("since", wanted.since).add_time("until", progress.until);
    fields.add("written", progress.written)
        .add("skipped", progress.skipped)
        .add("finished", progress.is_finished);
    return fields;
}

// The header by which consumers with a registry find the schema: that of the type, whatever the
// topic.
std::optional<std::string> find_schema_id(const session& suite, const std::string& type)
{
    const auto& file = suite.chosen().kafka.schema_ids_file;
    if (file.empty())
        return std::nullopt;
    for (const auto& one : kafka::read_published_schemas(file))
        if (one.topic == type)
            return kafka::schema_id_of(one);
    return std::nullopt;
}

std::vector<kafka::message> make_messages(std::vector<outbox::row> rows, const std::string& topic,
                                          const std::optional<std::string>& schema_id)
{
    std::vector<kafka::message> messages;
    for (auto& row : rows) {
        messages.push_back(events::make_backfill(std::move(row), topic));
        if (schema_id)
            messages.back().headers.emplace_back(kafka::schema_id_header, *schema_id);
    }
    return messages;
}

// Lets as much time pass as the events may take that were written.
class pace
{
public:
    pace(runtime::host& host, std::int64_t rate) : timer_(host.executor()), rate_(rate) {}

    awaitable<void> wait(std::int64_t written)
    {
        next_ = std::max(next_, steady::now()) +
                std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>(
                    static_cast<double>(written) / static_cast<double>(rate_)));
        timer_.expires_at(next_);
        co_await timer_.async_wait(boost::asio::use_awaitable);
    }

private:
    boost::asio::steady_timer timer_;
    std::int64_t rate_;
    steady::time_point next_;
};

// The position is stored when the broker has the events, so a run that is interrupted repeats one
// batch at most. Answers how many had to be sent again.
awaitable<result<std::int64_t>> write(session& suite, kafka::producer& producer,
                                      mailbox::backfill wanted, mailbox::backfill_batch batch)
{
    const auto schema_id = find_schema_id(suite, wanted.type);
    auto messages = make_messages(std::move(batch.events), wanted.to_topic, schema_id);
    const auto written =
        co_await write_messages(suite.host(), producer, std::move(messages), write_timeout);
    if (!written)
        co_return failure(written.error().code, written.error().message +
                                                    ". Is the topic there? The same command goes "
                                                    "on where this one stopped");
    co_await mailbox::save_backfill(suite.db(), std::move(wanted), std::move(batch.progress));
    co_return static_cast<std::int64_t>(*written);
}

// Leaves the events to the services, which keep a newer state behind an older one.
awaitable<result<std::int64_t>> queue(session& suite, mailbox::backfill wanted,
                                      mailbox::backfill_batch batch)
{
    const auto room = co_await wait_for_sweeps(suite, write_timeout);
    if (!room)
        co_return room.error();
    co_await mailbox::queue_backfill(suite.db(), std::move(wanted), std::move(batch));
    co_return 0;
}

awaitable<result<command_result>> backfill(session& suite, arguments given)
{
    const auto request = read_request(given);
    if (!request)
        co_return request.error();
    const auto& wanted = request->wanted;
    // The services publish states while this runs.
    const bool is_shared = wanted.to_topic == topics::inbox_state;
    std::optional<kafka::producer> producer;
    if (!is_shared)
        producer.emplace(suite.host(), suite.kafka());
    auto begun =
        co_await mailbox::begin_backfill(suite.db(), wanted, request->until, request->is_anew);
    if (!begun)
        co_return begun.error();
    auto progress = std::move(*begun);
    if (progress.is_finished)
        suite.print_line("This backfill is finished; --again writes all of it once more.");

    // At most a second's events at once.
    const auto limit = static_cast<int>(std::min(request->rate, max_batch));
    pace steady_pace(suite.host(), request->rate);
    auto next_line = steady::now() + line_interval;
    std::int64_t sent_again = 0; // in this run: Kafka had not acknowledged them
    while (!progress.is_finished) {
        auto batch = co_await mailbox::read_backfill(suite.db(), wanted, progress, limit);
        const auto count = static_cast<std::int64_t>(batch.events.size());
        progress = batch.progress;
        result<std::int64_t> written = 0;
        if (is_shared)
            written = co_await queue(suite, wanted, std::move(batch));
        else
            written = co_await write(suite, *producer, wanted, std::move(batch));
        if (!written)
            co_return written.error();
        sent_again += *written;
        if (steady::now() >= next_line) {
            next_line += line_interval;
            suite.print_line(std::to_string(progress.written) + " written, " +
                             std::to_string(progress.skipped) + " skipped, " +
                             std::to_string(sent_again) + " sent again");
        }
        co_await steady_pace.wait(count);
    }
    auto shown = to_record(wanted, progress);
    shown.add("sentAgain", sent_again);
    co_return command_result(std::move(shown));
}

result<event_check_request> read_check_request(const arguments& given)
{
    event_check_request request;
    auto type = read_type(given);
    if (!type)
        return type.error();
    if (*type == topics::inbox_state)
        return failure{errc::invalid_argument,
                       "--type must not be inbox.state: events backfill --type inbox.state writes "
                       "all states again"};
    request.type = std::move(*type);
    const auto since = read_time(given, "since"), until = read_time(given, "until");
    if (!since)
        return since.error();
    if (!until)
        return until.error();
    request.since = *since;
    request.until = *until;
    const auto timeout = given.integer("timeout", 1, 3'600);
    if (!timeout)
        return timeout.error();
    request.timeout = std::chrono::seconds(timeout->value_or(default_timeout_seconds));
    request.repairs = given.has("repair");
    return request;
}

record to_record(const event_check_request& request, const event_check& found)
{
    std::vector<std::string> ids;
    ids.reserve(found.listed.size());
    for (const auto& id : found.listed)
        ids.push_back(id.text());
    record fields;
    fields.add("type", request.type);
    fields.add_time("since", found.since).add_time("until", found.until);
    fields.add("compared", found.compared)
        .add("skipped", found.skipped)
        .add("missing", found.missing)
        .add("repaired", found.repaired)
        .add("endsRepeated", found.ends)
        .add("missingIds", std::move(ids));
    return fields;
}

awaitable<result<command_result>> verify(session& suite, arguments given)
{
    const auto request = read_check_request(given);
    if (!request)
        co_return request.error();
    const auto found = co_await check_events(suite, *request);
    if (!found)
        co_return found.error();
    command_result shown(to_record(*request, *found));
    shown.is_failure = found->repaired < found->missing;
    co_return shown;
}

} // namespace

std::vector<command> event_commands()
{
    std::vector<command> commands;
    auto& filling = commands.emplace_back(
        "events backfill",
        "Writes events of the past to a topic again, from the database: with the ids, times and "
        "values that they had, and the header ce_backfill. Goes on where it stopped");
    filling.options.emplace_back("type", "T",
                                 "email.received (of mail that is still there), inbox.created, "
                                 "inbox.expired, or inbox.state (what inboxes are now)",
                                 option::kind::required);
    filling.options.emplace_back("to-topic", "TOPIC",
                                 "where to, without the kafka-prefix; for inbox.state by default "
                                 "inbox.state",
                                 option::kind::optional);
    filling.options.emplace_back("since", "TIME",
                                 "events from then on; of inbox.state: inboxes made from then on. "
                                 "By default all",
                                 option::kind::optional);
    filling.options.emplace_back("until", "TIME", "events before then, by default up to now",
                                 option::kind::optional);
    filling.options.emplace_back("rate", "N", "events a second at most, by default 500",
                                 option::kind::optional);
    filling.options.emplace_back("again", "",
                                 "begins anew what is finished or was begun with the same type, "
                                 "topic and --since",
                                 option::kind::flag);
    filling.run = backfill;
    auto& verifying = commands.emplace_back(
        "events verify",
        "Compares the events that the database says were published with what Kafka holds; exit "
        "code 1 if one is missing");
    verifying.options.emplace_back("type", "T", "email.received, inbox.created or inbox.expired",
                                   option::kind::required);
    verifying.options.emplace_back("since", "TIME",
                                   "events from then on, by default all that the topic's retention "
                                   "still keeps",
                                   option::kind::optional);
    verifying.options.emplace_back("until", "TIME",
                                   "events before then, by default up to five minutes ago",
                                   option::kind::optional);
    verifying.options.emplace_back("repair", "",
                                   "puts what is missing into the outbox, with its own id and "
                                   "time; the services publish it",
                                   option::kind::flag);
    verifying.options.emplace_back("timeout", "SECONDS",
                                   "how long Kafka may be silent, by default 60",
                                   option::kind::optional);
    verifying.run = verify;
    return commands;
}

} // namespace tempinbox::ctl
