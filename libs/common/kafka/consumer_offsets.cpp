#include "common/core/time.hpp"
#include "common/kafka/consumer_state.hpp"
#include "common/kafka/names.hpp"
#include "common/log/log.hpp"

#include <cstring>

namespace tempinbox::kafka {
namespace {

using namespace std::chrono_literals;

// A commit is a write at the broker, and batches may be a millisecond apart.
constexpr auto commit_interval = 100ms;
// Timeout of the poll thread's queries, during which it reads nothing.
constexpr int timeout_millis = 1'000;

constexpr const char* lag_name = "tempinbox_consumer_lag_records";
constexpr const char* lag_help = "Records of a partition that are not handled yet";

std::int64_t unix_millis(const runtime::host& host)
{
    return to_unix_micros(host.clock().now()) / 1'000;
}

prometheus::Counter& expired_records(runtime::host& host, const std::string& group,
                                     const std::string& topic)
{
    return host.metrics().counter("tempinbox_consumer_expired_records_total",
                                  "Records that retention deleted before the group had read them",
                                  {{"topic", topic}, {"group", group}});
}

// The position that the group committed; empty where there is none. The list owns the metadata.
std::optional<consumer_lag::position> read_position(const rd_kafka_topic_partition_t& one)
{
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR || one.offset < 0)
        return std::nullopt;
    consumer_lag::position found;
    found.next_offset = one.offset;
    if (one.metadata != nullptr)
        found.newest_millis = consumer_lag::from_metadata(
            std::string(static_cast<const char*>(one.metadata), one.metadata_size));
    return found;
}

} // namespace

void consumer::state::note_handled(const std::vector<record>& records)
{
    for (const auto& one : records) {
        const partition_name name{one.topic, one.partition};
        handled[name] = one.offset + 1;
        lag.note_handled(one);
    }
}

partition_list consumer::state::handled_offsets() const
{
    partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(handled.size())));
    for (const auto& [name, offset] : handled) {
        auto& one = add_to(list, settings.cluster, name);
        one.offset = offset;
        if (const auto newest = lag.newest_millis(name)) {
            const auto metadata = consumer_lag::to_metadata(*newest);
            // The list frees the copy.
            one.metadata = strdup(metadata.c_str());
            one.metadata_size = metadata.size();
        }
    }
    return list;
}

partition_list consumer::state::list_of(const std::vector<partition_name>& names,
                                        std::int64_t offset) const
{
    partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(names.size())));
    for (const auto& name : names)
        add_to(list, settings.cluster, name).offset = offset;
    return list;
}

// At most one commit in progress, a few a second; the next one covers what was handled meanwhile.
void consumer::state::commit_in_background()
{
    if (handled.empty() || is_committing || steady::now() < next_commit)
        return;
    const auto offsets = handled_offsets();
    is_committing = rd_kafka_commit(client.get(), offsets.get(), 1) == RD_KAFKA_RESP_ERR_NO_ERROR;
    next_commit = steady::now() + (is_committing ? commit_interval : 1s);
}

void consumer::state::on_committed(rd_kafka_resp_err_t error,
                                   const rd_kafka_topic_partition_list_t* offsets)
{
    is_committing = false;
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        log::warning("offsets not committed",
                     {{"group", group}, {"reason", rd_kafka_err2str(error)}});
        next_commit = steady::now() + 1s;
        return;
    }
    for (int i = 0; i < offsets->cnt; ++i) {
        const auto& one = offsets->elems[i];
        const auto known = handled.find(read_name(settings.cluster, one));
        if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR && known != handled.end() &&
            known->second == one.offset)
            handled.erase(known);
    }
}

void consumer::state::commit_now()
{
    if (handled.empty())
        return;
    const auto offsets = handled_offsets();
    const auto error = rd_kafka_commit(client.get(), offsets.get(), 0);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        log::warning("offsets not committed",
                     {{"group", group}, {"reason", rd_kafka_err2str(error)}});
    handled.clear();
}

void consumer::state::committed(rd_kafka_t*, rd_kafka_resp_err_t error,
                                rd_kafka_topic_partition_list_t* offsets, void* self)
{
    static_cast<state*>(self)->on_committed(error, offsets);
}

// Called from within a poll, so it runs on the poll thread.
void consumer::state::rebalance(rd_kafka_t* client, rd_kafka_resp_err_t error,
                                rd_kafka_topic_partition_list_t* partitions, void* self)
{
    auto& me = *static_cast<state*>(self);
    if (error != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        me.on_revoke(rd_kafka_assignment_lost(client) != 0);
        me.assigned_partitions.Set(0);
        rd_kafka_assign(client, nullptr);
        log::info("partitions revoked", {{"group", me.group}, {"partitions", partitions->cnt}});
        return;
    }
    // Before any record of these partitions is read or committed.
    me.on_assign(*partitions);
    me.rebalances.Increment();
    me.assigned_partitions.Set(partitions->cnt);
    me.end_pause_of(*partitions);
    rd_kafka_assign(client, partitions);
    log::info("partitions assigned", {{"group", me.group}, {"partitions", partitions->cnt}});
}

// librdkafka keeps a pause when the assignment ends: a partition that was taken away while its
// batch failed would not be read once it came back.
void consumer::state::end_pause_of(const rd_kafka_topic_partition_list_t& partitions)
{
    // The call notes in its list which of them this client never had.
    const partition_list list(rd_kafka_topic_partition_list_copy(&partitions));
    rd_kafka_resume_partitions(client.get(), list.get());
    is_paused = false;
}

void consumer::state::on_assign(const rd_kafka_topic_partition_list_t& partitions)
{
    const partition_list committed(rd_kafka_topic_partition_list_copy(&partitions));
    const auto error = rd_kafka_committed(client.get(), committed.get(), timeout_millis);
    const auto now = unix_millis(host);
    for (int i = 0; i < committed->cnt; ++i) {
        const auto& one = committed->elems[i];
        lag.assign(read_name(settings.cluster, one),
                   error == RD_KAFKA_RESP_ERR_NO_ERROR ? read_position(one) : std::nullopt, now);
        expired_records(host, group, one.topic);
    }
    next_beginnings = next_ends = next_measure = {};
}

// Finishes and commits the running batch before another member gets the partitions; records that
// were only read are read again there.
void consumer::state::on_revoke(bool is_lost)
{
    const auto timeout = 20s;
    if (running && !is_lost) {
        const auto deadline = steady::now() + timeout;
        auto phase = running->wait(0s);
        while (phase == running_batch::phase::running && !is_abandoned && steady::now() < deadline)
            phase = running->wait(100ms);
        if (phase == running_batch::phase::done)
            note_handled(running->records());
    }
    if (!is_lost)
        commit_now();
    handled.clear();
    read_ahead.clear();
    is_committing = false;
    is_paused = false;
    ++revocations;
    // From now on another member exposes these series.
    for (const auto& [name, gauge] : shown_lags)
        host.metrics().remove(lag_name, lag_help, *gauge);
    shown_lags.clear();
    lag.clear();
    oldest_age.Set(0);
}

void consumer::state::measure()
{
    const auto now = steady::now();
    if (now < next_measure)
        return;
    next_measure = now + 1s;
    watch.check(client.get());
    if (watch.is_reachable()) {
        query_beginnings();
        query_ends();
    }
    show_lag();
}

// Partitions of one broker share a query. A broker that does not respond is queried again 5 s
// later.
void consumer::state::query_beginnings()
{
    const auto names = lag.without_beginning();
    if (names.empty() || steady::now() < next_beginnings)
        return;
    const auto list = list_of(names, RD_KAFKA_OFFSET_BEGINNING);
    if (rd_kafka_offsets_for_times(client.get(), list.get(), timeout_millis) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        next_beginnings = steady::now() + 5s;
    for (int i = 0; i < list->cnt; ++i) {
        const auto& one = list->elems[i];
        if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR || one.offset < 0)
            continue;
        const auto lost = lag.note_beginning(read_name(settings.cluster, one), one.offset);
        if (lost == 0)
            continue;
        expired_records(host, group, one.topic).Increment(static_cast<double>(lost));
        log::error("retention deleted records before they were read", {{"group", group},
                                                                       {"topic", one.topic},
                                                                       {"partition", one.partition},
                                                                       {"records", lost}});
    }
}

void consumer::state::query_ends()
{
    const auto now = steady::now();
    const auto names = lag.with_stale_end(now);
    if (names.empty() || now < next_ends)
        return;
    const auto list = list_of(names, RD_KAFKA_OFFSET_END);
    if (rd_kafka_offsets_for_times(client.get(), list.get(), timeout_millis) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        next_ends = steady::now() + 5s;
    for (int i = 0; i < list->cnt; ++i) {
        const auto& one = list->elems[i];
        if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR)
            lag.note_end(read_name(settings.cluster, one), one.offset, unix_millis(host), now,
                         true);
    }
}

void consumer::state::show_lag()
{
    for (const auto& name : lag.names()) {
        std::int64_t low = 0, high = 0;
        const auto topic = prefixed(settings.cluster, name.topic);
        const auto error =
            rd_kafka_get_watermark_offsets(client.get(), topic.c_str(), name.number, &low, &high);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
            lag.note_end(name, high, unix_millis(host), {}, false);
        const auto left = lag.records(name);
        if (!left)
            continue;
        auto& gauge = shown_lags[name];
        if (gauge == nullptr)
            gauge = &host.metrics().gauge(
                lag_name, lag_help,
                {{"topic", topic}, {"partition", std::to_string(name.number)}, {"group", group}});
        gauge->Set(static_cast<double>(*left));
    }
    std::vector<const std::vector<record>*> waiting{&read_ahead};
    if (running)
        waiting.push_back(&running->records());
    oldest_age.Set(static_cast<double>(lag.oldest_age_millis(waiting, unix_millis(host))) / 1e3);
}

void consumer::state::observe(const std::vector<record>& records, steady::duration took,
                              bool is_done)
{
    std::set<std::string> topics;
    for (const auto& one : records)
        topics.insert(prefixed(settings.cluster, one.topic));
    for (const auto& topic : topics)
        host.metrics()
            .histogram("messaging_process_duration_seconds", "Handling of a batch of records",
                       metrics::latency_buckets(),
                       {{"topic", topic}, {"group", group}, {"outcome", is_done ? "ok" : "error"}})
            .Observe(std::chrono::duration<double>(took).count());
}

} // namespace tempinbox::kafka
