#include "tempinboxctl/event_check.hpp"

#include "common/kafka/group_offsets.hpp"
#include "common/kafka/topics.hpp"
#include "common/outbox/outbox_repository.hpp"
#include "mailbox/event_verification.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace tempinbox::ctl {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t max_compared = 2'000'000; // at once
constexpr std::size_t read_batch = 1'000;
constexpr std::size_t repair_batch = 250; // with the ends that follow: a sweep's claim
constexpr std::int64_t max_waiting_rows = 5'000;
constexpr std::chrono::milliseconds backlog_interval{100};
// By how much clocks may differ, those by which Kafka deletes among them.
constexpr std::chrono::minutes clock_margin{10};

result<std::optional<std::chrono::milliseconds>> find_retention(session& suite,
                                                                const event_check_request& request)
{
    const auto found = kafka::find_retention(suite.kafka(), request.type, request.timeout);
    if (!found)
        return found.error();
    if (!request.since && (!found->time || found->is_bounded_by_size))
        return failure{errc::invalid_argument,
                       "--since must be given: only you know how long topic " + request.type +
                           " keeps its records, which has " +
                           (found->time ? "retention.bytes" : "no retention.ms")};
    return found->time;
}

// The events of `within` whose ids come next, in order.
struct window
{
    std::vector<event_id> ids;
    time_point since;
};

awaitable<window> read_window(session& suite, mailbox::event_period within, std::string& position,
                              bool& is_finished, event_check& found)
{
    window read;
    read.since = within.until;
    while (!is_finished && read.ids.size() < max_compared) {
        auto wanted = within;
        auto after = position;
        const auto part =
            co_await mailbox::list_expected_events(suite.db(), std::move(wanted), std::move(after));
        read.ids.insert(read.ids.end(), part.ids.begin(), part.ids.end());
        read.since = std::min(read.since, part.since);
        found.skipped += part.skipped;
        position = part.position;
        is_finished = part.is_finished;
    }
    std::sort(read.ids.begin(), read.ids.end());
    co_return read;
}

// Those of the window that the topic does not hold. Blocks, as nothing else runs on the loop. The
// topic's ends are looked up after the ids were: whatever was published before is in front of them.
result<std::vector<event_id>> find_missing(const kafka::settings& cluster, const std::string& topic,
                                           const window& expected,
                                           std::chrono::milliseconds timeout)
{
    std::vector<bool> is_found(expected.ids.size());
    std::size_t left = expected.ids.size();
    const auto since = std::max(expected.since - clock_margin, time_point());
    kafka::bounded_reader reader(cluster, topic, since, timeout);
    while (left > 0) {
        const auto batch = reader.read(read_batch);
        if (!batch)
            return batch.error();
        if (batch->empty())
            break;
        for (const auto& record : *batch) {
            const auto id = event_id::parse(record.header("ce_id").value_or(""));
            if (!id)
                continue;
            const auto at = std::lower_bound(expected.ids.begin(), expected.ids.end(), *id);
            if (at == expected.ids.end() || *at != *id)
                continue;
            const auto index = static_cast<std::size_t>(at - expected.ids.begin());
            left -= is_found[index] ? 0 : 1;
            is_found[index] = true;
        }
    }
    std::vector<event_id> missing;
    for (std::size_t i = 0; i < is_found.size(); ++i)
        if (!is_found[i])
            missing.push_back(expected.ids[i]);
    return missing;
}

awaitable<result<void>> repair(session& suite, event_check_request request,
                               std::vector<event_id> missing, event_check& found)
{
    for (std::size_t done = 0; done < missing.size(); done += repair_batch) {
        const auto begin = missing.begin() + static_cast<std::ptrdiff_t>(done);
        const auto count = std::min(repair_batch, missing.size() - done);
        std::vector<event_id> batch(begin, begin + static_cast<std::ptrdiff_t>(count));
        const auto room = co_await wait_for_sweeps(suite, request.timeout);
        if (!room)
            co_return room.error();
        auto type = request.type;
        const auto repaired =
            co_await mailbox::repair_events(suite.db(), std::move(type), std::move(batch));
        found.repaired += repaired.events;
        found.ends += repaired.ends;
    }
    co_return result<void>();
}

} // namespace

awaitable<result<void>> wait_for_sweeps(session& suite, std::chrono::milliseconds timeout)
{
    outbox::outbox_repository outbox(suite.db(), "mailbox");
    boost::asio::steady_timer timer(suite.host().executor());
    const auto deadline = steady::now() + timeout;
    for (;;) {
        const auto waiting = co_await outbox.measure();
        if (waiting.rows < max_waiting_rows)
            co_return result<void>();
        if (steady::now() >= deadline)
            co_return failure(errc::unavailable,
                              std::to_string(waiting.rows) +
                                  " events wait in the outbox: do inbox and mail-ingest run, and "
                                  "does Kafka take what they publish? The same command goes on "
                                  "where this one stopped");
        timer.expires_after(backlog_interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
}

awaitable<result<event_check>> check_events(session& suite, event_check_request request)
{
    const auto retention = find_retention(suite, request);
    if (!retention)
        co_return retention.error();
    const auto& clock = suite.host().clock();
    // What is older may have left the topic.
    const auto kept_since = [&] {
        return *retention ? clock.now() - **retention + clock_margin : time_point();
    };
    event_check found;
    found.since = std::max(request.since.value_or(time_point()), kept_since());
    const auto latest = clock.now() - min_event_age;
    found.until = std::min(request.until.value_or(latest), latest);
    if (found.since >= found.until)
        co_return failure(errc::invalid_argument,
                          "no events are between --since and --until that topic " + request.type +
                              " must have: it keeps them from " + to_iso8601(kept_since()) +
                              " on, and the last five minutes are left out");

    std::string position;
    bool is_finished = false;
    while (!is_finished) {
        const auto expected = co_await read_window(
            suite, mailbox::event_period(request.type, found.since, found.until), position,
            is_finished, found);
        found.compared += static_cast<std::int64_t>(expected.ids.size());
        auto missing = find_missing(suite.kafka(), request.type, expected, request.timeout);
        if (!missing)
            co_return missing.error();
        // Reading takes its time, and the topic forgets meanwhile.
        std::erase_if(*missing,
                      [&](const event_id& id) { return id.value().time() < kept_since(); });
        found.missing += static_cast<std::int64_t>(missing->size());
        const auto room = max_listed_events - found.listed.size();
        const auto shown = static_cast<std::ptrdiff_t>(std::min(room, missing->size()));
        found.listed.insert(found.listed.end(), missing->begin(), missing->begin() + shown);
        if (!request.repairs)
            continue;
        const auto repaired = co_await repair(suite, request, std::move(*missing), found);
        if (!repaired)
            co_return repaired.error();
    }
    co_return found;
}

} // namespace tempinbox::ctl
