#include "common/kafka/client.hpp"
#include "common/kafka/client_reloader.hpp"
#include "common/kafka/consumer.hpp"
#include "common/kafka/names.hpp"
#include "common/kafka/partition_plan.hpp"
#include "common/log/log.hpp"
#include "common/runtime/completion_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace tempinbox::kafka {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::size_t batch_limit = 500;

} // namespace

// The reader's poll thread; steps on the loop keep it alive.
struct broadcast_reader::state : std::enable_shared_from_this<broadcast_reader::state>
{
    state(runtime::host& where, kafka::settings given, std::vector<std::string> names,
          batch_handler handler, bool from_beginning)
        : host(where),
          cluster(std::move(given)),
          topics(std::move(names)),
          handle(std::move(handler)),
          completions(where.loop()),
          watch(where),
          clients(where, cluster, [this](const kafka::settings& now) { return make_client(now); }),
          plan(from_beginning)
    {}

    void open();
    client_handle make_client(const kafka::settings& now);
    void replace_client(client_handle next);
    void run();
    void scan();
    std::optional<int> partition_count(const std::string& topic);
    bool add_partitions(const std::string& topic, int count);
    void assign();
    void take_targets();
    std::vector<record> read_batch();
    void measure();
    void dispatch(std::vector<record> records);

    runtime::host& host;
    const kafka::settings cluster;
    const std::vector<std::string> topics;
    const batch_handler handle;
    runtime::completion_queue completions;
    std::atomic<bool> is_stopping{false};
    std::atomic<bool> is_current{false};
    std::thread poller;

    broker_watch watch;
    client_reloader clients;
    client_handle client;
    partition_plan plan;
    bool needs_targets = false;
    steady::time_point next_scan;
    steady::time_point next_measure;

    std::mutex mutex;
    std::condition_variable handled;
    bool is_handling = false;
};

void broadcast_reader::state::open()
{
    client = clients.start();
}

client_handle broadcast_reader::state::make_client(const kafka::settings& now)
{
    configuration conf(now, host.name());
    // librdkafka requires a group for manual assignment; it is never joined and nothing is
    // committed.
    conf.set("group.id", prefixed(now, "tempinbox-broadcast-" + host.instance()));
    conf.set("enable.auto.commit", "false");
    conf.set("enable.auto.offset.store", "false");
    conf.set("enable.partition.eof", "true");
    conf.set("auto.offset.reset", "earliest");
    conf.suggest("fetch.error.backoff.ms", "100");
    conf.suggest("queued.min.messages", "10000");
    conf.suggest("queued.max.messages.kbytes", "16384");
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_error_cb(
        conf.get(), [](rd_kafka_t*, int error, const char* reason, void* self) {
            auto& me = *static_cast<state*>(self);
            me.watch.on_error(static_cast<rd_kafka_resp_err_t>(error), reason);
            if (!me.watch.is_reachable()) {
                me.is_current = false;
                me.needs_targets = true;
            }
        });
    auto made = conf.make(RD_KAFKA_CONSUMER);
    rd_kafka_poll_set_consumer(made.get());
    return made;
}

// Goes on where the old client's last batch ended.
void broadcast_reader::state::replace_client(client_handle next)
{
    rd_kafka_consumer_close(client.get());
    client = std::move(next);
    if (plan.size() != 0)
        assign();
    // Nothing was read for a moment: current again once it has caught up.
    needs_targets = true;
}

void broadcast_reader::state::run()
{
    while (!is_stopping) {
        if (auto next = clients.take(client.get()))
            replace_client(std::move(next));
        watch.check(client.get());
        if (watch.is_reachable() && steady::now() >= next_scan)
            scan();
        if (watch.is_reachable() && needs_targets)
            take_targets();
        auto batch = read_batch();
        if (!batch.empty())
            dispatch(std::move(batch));
        measure();
        is_current = watch.is_reachable() && !needs_targets && plan.knows_all(topics) &&
                     plan.has_reached_targets();
    }
    rd_kafka_consumer_close(client.get());
    client.reset();
}

// Adds partitions that the plan does not have yet.
void broadcast_reader::state::scan()
{
    bool is_complete = true;
    const auto before = plan.size();
    for (const auto& topic : topics) {
        const auto count = partition_count(topic);
        is_complete = count && add_partitions(topic, *count) && is_complete;
    }
    if (plan.size() != before)
        assign();
    next_scan = steady::now() + (is_complete ? std::chrono::milliseconds(60s) : 500ms);
}

std::optional<int> broadcast_reader::state::partition_count(const std::string& topic)
{
    constexpr int timeout_millis = 2'000;
    const kafka::handle<rd_kafka_topic_t> handle_of_topic(
        rd_kafka_topic_new(client.get(), prefixed(cluster, topic).c_str(), nullptr));
    const rd_kafka_metadata_t* raw = nullptr;
    const auto error =
        rd_kafka_metadata(client.get(), 0, handle_of_topic.get(), &raw, timeout_millis);
    const kafka::handle<const rd_kafka_metadata_t> metadata(raw);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return std::nullopt;
    if (metadata->topic_cnt != 1 || metadata->topics[0].err != RD_KAFKA_RESP_ERR_NO_ERROR ||
        metadata->topics[0].partition_cnt == 0) {
        log::warning("topic is missing", {{"topic", prefixed(cluster, topic)}});
        return std::nullopt;
    }
    return metadata->topics[0].partition_cnt;
}

bool broadcast_reader::state::add_partitions(const std::string& topic, int count)
{
    constexpr int timeout_millis = 2'000;
    for (std::int32_t number = 0; number < count; ++number) {
        const partition_name name{topic, number};
        if (plan.has(name))
            continue;
        std::int64_t low = 0, high = 0;
        const auto error = rd_kafka_query_watermark_offsets(
            client.get(), prefixed(cluster, topic).c_str(), number, &low, &high, timeout_millis);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            return false;
        plan.add(name, low, high);
    }
    plan.mark_known(topic);
    return true;
}

void broadcast_reader::state::assign()
{
    const partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(plan.size())));
    for (const auto& [name, position] : plan.positions())
        add_to(list, cluster, name).offset = position.next;
    const auto error = rd_kafka_assign(client.get(), list.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        throw std::runtime_error("cannot assign kafka partitions: " +
                                 std::string(rd_kafka_err2str(error)));
}

// The brokers were unreachable: the reader is current again once it has read what was written
// meanwhile.
void broadcast_reader::state::take_targets()
{
    constexpr int timeout_millis = 2'000;
    for (const auto& [name, position] : plan.positions()) {
        std::int64_t low = 0, high = 0;
        const auto error =
            rd_kafka_query_watermark_offsets(client.get(), prefixed(cluster, name.topic).c_str(),
                                             name.number, &low, &high, timeout_millis);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            return;
        plan.set_target(name, high);
    }
    needs_targets = false;
}

std::vector<record> broadcast_reader::state::read_batch()
{
    constexpr int timeout_millis = 100;
    std::vector<record> batch;
    while (batch.size() < batch_limit) {
        const message_handle message(
            rd_kafka_consumer_poll(client.get(), batch.empty() ? timeout_millis : 0));
        if (!message)
            break;
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            // The end may lie past the last record: compaction and markers leave gaps.
            plan.set_next(
                {without_prefix(cluster, rd_kafka_topic_name(message->rkt)), message->partition},
                message->offset);
            // Each partition has its end behind its last record: a batch goes over all of them.
            if (batch.empty())
                break;
            continue;
        }
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            batch.push_back(read_record(cluster, *message));
            plan.set_next({batch.back().topic, batch.back().partition}, message->offset + 1);
        } else {
            log::warning("cannot read from kafka",
                         {{"reason", rd_kafka_message_errstr(message.get())}});
        }
    }
    return batch;
}

// By the ends that the brokers told with the last fetch, so that nothing is asked for it.
void broadcast_reader::state::measure()
{
    if (steady::now() < next_measure)
        return;
    next_measure = steady::now() + 1s;
    std::map<std::string, std::int64_t> lags;
    for (const auto& [name, position] : plan.positions()) {
        std::int64_t low = 0, high = 0;
        const auto error = rd_kafka_get_watermark_offsets(
            client.get(), prefixed(cluster, name.topic).c_str(), name.number, &low, &high);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0)
            lags[name.topic] += std::max<std::int64_t>(0, high - position.next);
    }
    for (const auto& [topic, records] : lags)
        host.metrics()
            .gauge("tempinbox_broadcast_lag_records",
                   "Records of a topic that this process reads whole and has not read yet",
                   {{"topic", prefixed(cluster, topic)}})
            .Set(static_cast<double>(records));
}

// One batch at a time on the loop, so that memory stays bounded.
void broadcast_reader::state::dispatch(std::vector<record> records)
{
    std::unique_lock lock(mutex);
    is_handling = true;
    auto batch = std::make_shared<std::vector<record>>(std::move(records));
    completions.push([self = shared_from_this(), batch] {
        try {
            if (!self->is_stopping)
                self->handle(*batch);
        } catch (const std::exception& error) {
            // Nobody handles these events later, and one bad batch must not end the reader.
            log::error("events not handled",
                       {{"topic", batch->front().topic}, {"reason", error.what()}});
        }
        const std::lock_guard relock(self->mutex);
        self->is_handling = false;
        self->handled.notify_all();
    });
    handled.wait(lock, [this] { return !is_handling || is_stopping; });
}

broadcast_reader::broadcast_reader(runtime::host& host, settings cluster,
                                   std::vector<std::string> topics, batch_handler handle,
                                   bool from_beginning)
    : state_(std::make_shared<state>(host, std::move(cluster), std::move(topics), std::move(handle),
                                     from_beginning))
{}

broadcast_reader::~broadcast_reader()
{
    stop();
}

void broadcast_reader::start()
{
    state_->open();
    state_->poller = std::thread([me = state_.get()] { me->run(); });
}

void broadcast_reader::stop()
{
    {
        const std::lock_guard lock(state_->mutex);
        state_->is_stopping = true;
    }
    state_->handled.notify_all();
    state_->clients.stop();
    state_->is_current = false;
    if (state_->poller.joinable())
        state_->poller.join();
}

bool broadcast_reader::is_current() const
{
    return state_->is_current;
}

} // namespace tempinbox::kafka
