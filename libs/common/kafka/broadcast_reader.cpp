#include "common/kafka/consumer.hpp"

#include "common/kafka/handles.hpp"
#include "common/log/log.hpp"

#include <boost/asio/post.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace tempinbox::kafka {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Shared with the posts on the loop, which may outlive the reader.
struct broadcast_reader::state : std::enable_shared_from_this<broadcast_reader::state>
{
    using partition = std::pair<std::string, std::int32_t>;

    runtime::host& host;
    kafka::settings cluster;
    std::vector<std::string> topics;
    batch_handler handle;
    bool from_beginning;

    client_handle client;
    std::thread poller;
    std::atomic<bool> is_stopping = false;
    std::atomic<bool> is_current = false;
    std::atomic<bool> are_brokers_away = false;
    std::map<partition, std::int64_t> next_offset; // poll thread only
    std::mutex mutex;
    std::condition_variable handled;
    bool is_handling = false;

    state(runtime::host& process, kafka::settings where, std::vector<std::string> names, batch_handler handler, bool all)
        : host(process),
          cluster(std::move(where)),
          topics(std::move(names)),
          handle(std::move(handler)),
          from_beginning(all)
    {}

    void open()
    {
        rd_kafka_conf_t* conf =
            make_conf({{"bootstrap.servers", cluster.brokers},
                       {"client.id", "tempinbox-" + host.name() + "-broadcast"},
                       {"group.id", "tempinbox-broadcast-unused"}, // librdkafka asks for one; nothing joins or commits
                       {"enable.auto.commit", "false"},
                       {"enable.auto.offset.store", "false"},
                       {"auto.offset.reset", "latest"},
                       {"fetch.wait.max.ms", "500"},
                       {"fetch.error.backoff.ms", "100"},
                       {"queued.max.messages.kbytes", "16384"},
                       {"reconnect.backoff.max.ms", "2000"},
                       {"log.connection.close", "false"}});
        rd_kafka_conf_set_opaque(conf, this);
        rd_kafka_conf_set_error_cb(conf, [](rd_kafka_t*, int code, const char*, void* opaque) {
            if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
                static_cast<state*>(opaque)->are_brokers_away = true;
        });
        rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char* text) {
            log::debug("kafka", {{"text", text}});
        });
        client = make_client(RD_KAFKA_CONSUMER, conf);
        rd_kafka_poll_set_consumer(client.get());
    }

    void run()
    {
        auto next_look = std::chrono::steady_clock::now();
        while (!is_stopping) {
            const auto now = std::chrono::steady_clock::now();
            if (now >= next_look || (are_brokers_away && now + 59s >= next_look)) {
                const bool found_all = assign_new_partitions();
                is_current = found_all;
                next_look = std::chrono::steady_clock::now() + (found_all ? std::chrono::milliseconds(60s) : 500ms);
            }
            read_and_hand_over();
        }
        rd_kafka_consumer_close(client.get());
        client.reset();
    }

    // Takes partitions it does not have yet: at first from their end, later ones (made since) from their beginning. False when
    // not all topics are there.
    bool assign_new_partitions()
    {
        const bool is_first = next_offset.empty();
        std::map<partition, std::int64_t> found;
        for (const auto& topic : topics)
            if (!add_partitions(topic, is_first, found))
                return false;
        are_brokers_away = false;
        const bool has_new =
            std::any_of(found.begin(), found.end(), [&](const auto& entry) { return !next_offset.contains(entry.first); });
        if (!has_new)
            return true;
        for (const auto& [where, offset] : found)
            next_offset.try_emplace(where, offset);
        const partition_list list(rd_kafka_topic_partition_list_new(static_cast<int>(next_offset.size())));
        for (const auto& [where, offset] : next_offset)
            rd_kafka_topic_partition_list_add(list.get(), where.first.c_str(), where.second)->offset = offset;
        return rd_kafka_assign(client.get(), list.get()) == RD_KAFKA_RESP_ERR_NO_ERROR;
    }

    bool add_partitions(const std::string& topic, bool is_first, std::map<partition, std::int64_t>& found)
    {
        rd_kafka_topic_t* handle_of_topic = rd_kafka_topic_new(client.get(), topic.c_str(), nullptr);
        const struct rd_kafka_metadata* metadata = nullptr;
        const auto error = rd_kafka_metadata(client.get(), 0, handle_of_topic, &metadata, 2'000);
        rd_kafka_topic_destroy(handle_of_topic);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            return false;
        const int count = metadata->topic_cnt == 1 && metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR
                              ? metadata->topics[0].partition_cnt
                              : 0;
        rd_kafka_metadata_destroy(metadata);
        for (std::int32_t p = 0; p < count; ++p) {
            const partition where{topic, p};
            if (next_offset.contains(where)) {
                found[where] = next_offset[where];
                continue;
            }
            std::int64_t low = 0, high = 0;
            if (rd_kafka_query_watermark_offsets(client.get(), topic.c_str(), p, &low, &high, 2'000) !=
                RD_KAFKA_RESP_ERR_NO_ERROR)
                return false;
            found[where] = is_first && !from_beginning ? high : low;
        }
        return count > 0;
    }

    void read_and_hand_over()
    {
        auto batch = std::make_shared<std::vector<record>>();
        for (int patience = 100; batch->size() < 500; patience = 0) {
            const message_handle message(rd_kafka_consumer_poll(client.get(), patience));
            if (!message)
                break;
            if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
                continue;
            batch->push_back(to_record(*message));
            next_offset[{batch->back().topic, batch->back().partition}] = batch->back().offset + 1;
        }
        if (batch->empty())
            return;
        std::unique_lock lock(mutex);
        is_handling = true;
        asio::post(host.executor(), [self = shared_from_this(), batch] {
            if (!self->is_stopping)
                self->handle(*batch);
            const std::lock_guard relock(self->mutex);
            self->is_handling = false;
            self->handled.notify_all();
        });
        while (is_handling && !is_stopping)
            handled.wait_for(lock, 50ms);
    }
};

broadcast_reader::broadcast_reader(runtime::host& host, settings cluster, std::vector<std::string> topics, batch_handler handle,
                                   bool from_beginning)
    : state_(std::make_shared<state>(host, std::move(cluster), std::move(topics), std::move(handle), from_beginning))
{}

broadcast_reader::~broadcast_reader()
{
    stop();
}

void broadcast_reader::start()
{
    state_->open();
    state_->poller = std::thread([self = state_.get()] { self->run(); });
}

void broadcast_reader::stop()
{
    state_->is_stopping = true;
    if (state_->poller.joinable())
        state_->poller.join();
}

bool broadcast_reader::is_current() const
{
    return state_->is_current && !state_->are_brokers_away;
}

} // namespace tempinbox::kafka
