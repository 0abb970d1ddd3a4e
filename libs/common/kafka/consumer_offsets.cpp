#include "common/core/time.hpp"
#include "common/kafka/consumer_state.hpp"
#include "common/log/log.hpp"

namespace tempinbox::kafka {
namespace {

using namespace std::chrono_literals;

// A commit is a write of the broker's, and batches may be a millisecond apart.
constexpr auto commit_interval = 100ms;

} // namespace

void consumer::state::note_handled(const std::vector<record>& records)
{
    for (const auto& one : records) {
        const partition_name name{one.topic, one.partition};
        handled[name] = one.offset + 1;
        if (const auto known = assigned.find(name); known != assigned.end())
            known->second.next_offset = one.offset + 1;
    }
}

partition_list consumer::state::handled_offsets() const
{
    partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(handled.size())));
    for (const auto& [name, offset] : handled)
        rd_kafka_topic_partition_list_add(list.get(), name.topic.c_str(), name.number)->offset = offset;
    return list;
}

// One commit under way at a time, a few a second; the next takes what was handled meanwhile.
void consumer::state::commit_in_background()
{
    if (handled.empty() || is_committing || steady::now() < next_commit)
        return;
    const auto offsets = handled_offsets();
    is_committing = rd_kafka_commit(client.get(), offsets.get(), 1) == RD_KAFKA_RESP_ERR_NO_ERROR;
    next_commit = steady::now() + (is_committing ? commit_interval : 1s);
}

void consumer::state::on_committed(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets)
{
    is_committing = false;
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        log::warning("offsets not committed", {{"group", settings.group}, {"reason", rd_kafka_err2str(error)}});
        next_commit = steady::now() + 1s;
        return;
    }
    for (int i = 0; i < offsets->cnt; ++i) {
        const auto& one = offsets->elems[i];
        const auto known = handled.find({one.topic, one.partition});
        if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR && known != handled.end() && known->second == one.offset)
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
        log::warning("offsets not committed", {{"group", settings.group}, {"reason", rd_kafka_err2str(error)}});
    handled.clear();
}

void consumer::state::committed(rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* offsets, void* self)
{
    static_cast<state*>(self)->on_committed(error, offsets);
}

// Called from within a poll, so on the poll thread.
void consumer::state::rebalance(rd_kafka_t* client, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* partitions,
                                void* self)
{
    auto& me = *static_cast<state*>(self);
    if (error != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        me.on_revoke(rd_kafka_assignment_lost(client) != 0);
        rd_kafka_assign(client, nullptr);
        log::info("partitions revoked", {{"group", me.settings.group}, {"partitions", partitions->cnt}});
        return;
    }
    rd_kafka_assign(client, partitions);
    me.is_paused = false;
    for (int i = 0; i < partitions->cnt; ++i) {
        const auto& one = partitions->elems[i];
        auto& lag = me.host.metrics().gauge(
            "kafka_consumer_lag_records", "Records of a partition that are not handled yet.",
            {{"topic", one.topic}, {"partition", std::to_string(one.partition)}, {"group", me.settings.group}});
        me.assigned[{one.topic, one.partition}] = {&lag, -1};
    }
    log::info("partitions assigned", {{"group", me.settings.group}, {"partitions", partitions->cnt}});
}

// What is being handled is finished and committed before another member gets its partitions; what was only read is read again
// there.
void consumer::state::on_revoke(bool is_lost)
{
    const auto patience = 20s;
    if (running && !is_lost) {
        const auto deadline = steady::now() + patience;
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
    for (const auto& [name, place] : assigned)
        place.lag->Set(0);
    assigned.clear();
}

void consumer::state::measure()
{
    const auto now = steady::now();
    if (now < next_measure)
        return;
    next_measure = now + 1s;
    for (const auto& [name, place] : assigned) {
        std::int64_t low = 0, high = 0;
        const auto error = rd_kafka_get_watermark_offsets(client.get(), name.topic.c_str(), name.number, &low, &high);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 && place.next_offset >= 0)
            place.lag->Set(static_cast<double>(std::max<std::int64_t>(high - place.next_offset, 0)));
    }
    if (running) {
        std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
        for (const auto& one : running->records())
            oldest = std::min(oldest, one.timestamp_millis);
        const auto now_millis = to_unix_micros(host.clock().now()) / 1'000;
        oldest_age.Set(static_cast<double>(std::max<std::int64_t>(now_millis - oldest, 0)) / 1e3);
    }
}

void consumer::state::observe(const std::vector<record>& records, steady::duration took, bool is_done)
{
    std::set<std::string> topics;
    for (const auto& one : records)
        topics.insert(one.topic);
    for (const auto& topic : topics)
        host.metrics()
            .histogram("messaging_process_duration_seconds", "Handling of a batch of records.", metrics::latency_buckets(),
                       {{"topic", topic}, {"group", settings.group}, {"outcome", is_done ? "ok" : "error"}})
            .Observe(std::chrono::duration<double>(took).count());
}

} // namespace tempinbox::kafka
