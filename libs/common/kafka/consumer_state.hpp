#pragma once

#include "common/async/reset_event.hpp"
#include "common/kafka/client.hpp"
#include "common/kafka/client_reloader.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/consumer_lag.hpp"
#include "common/kafka/partition_plan.hpp"
#include "common/runtime/completion_queue.hpp"

#include <boost/asio/steady_timer.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace tempinbox::kafka {

using steady = std::chrono::steady_clock;

// A batch while the loop handles it; the poll thread waits for it here.
class running_batch
{
public:
    enum class phase { running, done, failed };

    explicit running_batch(std::vector<record> records) : records_(std::move(records)) {}
    const std::vector<record>& records() const { return records_; }
    void finish(phase outcome);
    phase wait(std::chrono::milliseconds timeout);

private:
    std::vector<record> records_;
    std::mutex mutex_;
    std::condition_variable changed_;
    phase now_ = phase::running;
};

// The member's poll thread; only it uses the members after the first block.
struct consumer::state : std::enable_shared_from_this<consumer::state>
{
    state(runtime::host& where, consumer_settings given, batch_handler handler);
    void open();
    client_handle make_client(const kafka::settings& now);
    void subscribe();
    void run();
    void leave();

    runtime::host& host;
    const consumer_settings settings;
    const std::string group; // its name in Kafka
    const batch_handler handle;
    runtime::completion_queue completions;
    std::atomic<bool> is_stopping{false};
    std::atomic<bool> is_abandoned{false}; // the loop has ended: nothing can be waited for
    std::atomic<bool> is_pause_requested{false};
    boost::asio::steady_timer stopped; // used on the loop
    bool has_stopped = false;          // used on the loop
    // Used on the loop, set unless a batch is being handled: the partitions of a batch may be lost
    // meanwhile, and the next one waits all the same.
    async::reset_event can_handle;
    std::thread poller;

    broker_watch watch;
    client_reloader clients;
    client_handle client;
    std::shared_ptr<running_batch> running;
    std::vector<record> read_ahead; // arrived while the partitions should have been paused
    bool is_paused = false;
    std::uint64_t revocations = 0; // records read before the last one are no longer ours
    std::map<partition_name, std::int64_t> handled; // next offsets, not yet committed
    bool is_committing = false;
    steady::time_point next_commit;
    steady::time_point next_measure;

    consumer_lag lag;
    std::map<partition_name, prometheus::Gauge*> shown_lags; // once known
    steady::time_point next_beginnings;
    steady::time_point next_ends;
    prometheus::Gauge& oldest_age;
    prometheus::Counter& rebalances;
    prometheus::Gauge& assigned_partitions;

private:
    void replace_client(client_handle next);
    std::vector<record> read_batch();
    void read_while_paused();
    void take(const rd_kafka_message_t& message);
    void work_on(std::vector<record> records);
    running_batch::phase wait_for_running(std::uint64_t ours);
    void dispatch();
    static awaitable<void> handle_alone(std::shared_ptr<state> self,
                                        std::shared_ptr<running_batch> batch);
    void pause_partitions(bool paused);
    void note_handled(const std::vector<record>& records);
    void commit_in_background();
    void commit_now();
    partition_list handled_offsets() const;
    partition_list list_of(const std::vector<partition_name>& names, std::int64_t offset) const;
    void on_revoke(bool is_lost);
    void on_committed(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets);
    void on_assign(const rd_kafka_topic_partition_list_t& partitions);
    void end_pause_of(const rd_kafka_topic_partition_list_t& partitions);
    void measure();
    void query_beginnings();
    void query_ends();
    void show_lag();
    void observe(const std::vector<record>& records, std::chrono::steady_clock::duration took,
                 bool is_done);

    static void rebalance(rd_kafka_t*, rd_kafka_resp_err_t error,
                          rd_kafka_topic_partition_list_t* partitions, void* self);
    static void committed(rd_kafka_t*, rd_kafka_resp_err_t error,
                          rd_kafka_topic_partition_list_t* offsets, void* self);
};

} // namespace tempinbox::kafka
