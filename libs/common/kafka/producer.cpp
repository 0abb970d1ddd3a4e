#include "common/kafka/producer.hpp"

#include "common/kafka/client.hpp"
#include "common/log/log.hpp"
#include "common/runtime/completion_queue.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <shared_mutex>

namespace tempinbox::kafka {
namespace {

using steady = std::chrono::steady_clock;

struct delivery_report
{
    std::unique_ptr<producer::outcome_handler> handler;
    bool acknowledged;
};

} // namespace

// The client, its poll thread and the delivery reports for the loop. Steps on the loop keep it
// alive.
struct producer::state : std::enable_shared_from_this<producer::state>
{
    state(runtime::host& where, const settings& chosen);
    void poll();
    bool send(const message& outgoing, outcome_handler on_outcome);
    void stop();

    client_handle make_client();
    void make_client_anew();
    void on_delivery(const rd_kafka_message_t& message);
    void dispatch();
    prometheus::Histogram& duration(const rd_kafka_message_t& message);

    runtime::host& host;
    const settings cluster;
    runtime::completion_queue completions;
    broker_watch watch;
    std::shared_mutex client_mutex; // held exclusively only while the client is recreated
    client_handle client;
    std::thread poller;
    std::atomic<bool> is_stopping{false};
    std::atomic<bool> has_failed_for_good{false};
    std::atomic<std::size_t> outstanding{0}; // sent and not yet reported to the loop
    std::vector<delivery_report> delivered;  // used on the poll thread
    std::map<std::pair<std::string, bool>, prometheus::Histogram*> durations;
    boost::asio::steady_timer nothing_outstanding;
};

producer::state::state(runtime::host& where, const settings& chosen)
    : host(where),
      cluster(chosen),
      completions(where.loop()),
      watch(where),
      client(make_client()),
      nothing_outstanding(where.loop())
{}

client_handle producer::state::make_client()
{
    configuration conf(cluster, "tempinbox-" + host.name());
    conf.set("enable.idempotence", "true");
    conf.set("acks", "all");
    conf.suggest("linger.ms", "0.5");
    conf.suggest("delivery.timeout.ms", "20000");
    conf.suggest("queue.buffering.max.messages", "50000");
    conf.suggest("queue.buffering.max.kbytes", "16384");
    // Partitions keys as Java's producers do, so that other teams' joins by key work.
    conf.suggest("partitioner", "murmur2_random");
    char features[512];
    std::size_t size = sizeof features;
    const bool is_known =
        rd_kafka_conf_get(conf.get(), "builtin.features", features, &size) == RD_KAFKA_CONF_OK;
    conf.suggest("compression.type",
                 is_known && std::string_view(features).find("zstd") != std::string_view::npos
                     ? "zstd"
                     : "lz4");

    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_dr_msg_cb(conf.get(),
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
                                    static_cast<state*>(self)->on_delivery(*message);
                                });
    rd_kafka_conf_set_error_cb(
        conf.get(), [](rd_kafka_t*, int error, const char* reason, void* self) {
            auto& me = *static_cast<state*>(self);
            me.watch.on_error(static_cast<rd_kafka_resp_err_t>(error), reason);
            if (error == RD_KAFKA_RESP_ERR__FATAL)
                me.has_failed_for_good = true;
        });
    return conf.make(RD_KAFKA_PRODUCER);
}

void producer::state::poll()
{
    constexpr int timeout_millis = 100;
    while (!is_stopping) {
        rd_kafka_poll(client.get(), timeout_millis);
        dispatch();
        if (has_failed_for_good)
            make_client_anew();
        watch.check(client.get());
    }
}

// The broker lost the state that makes retries idempotent (KIP-360's unrecoverable cases): this
// client cannot send any more.
void producer::state::make_client_anew()
{
    char reason[512] = "";
    rd_kafka_fatal_error(client.get(), reason, sizeof reason);
    log::error("recreating the kafka producer after a fatal error", {{"reason", reason}});
    const std::unique_lock lock(client_mutex);
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(client.get()) > 0 && !is_stopping)
        rd_kafka_poll(client.get(), 10);
    dispatch();
    client = make_client();
    has_failed_for_good = false;
}

void producer::state::on_delivery(const rd_kafka_message_t& message)
{
    const bool acknowledged = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
    duration(message).Observe(static_cast<double>(rd_kafka_message_latency(&message)) / 1e6);
    if (!acknowledged) {
        log::warning("event not acknowledged", {{"topic", rd_kafka_topic_name(message.rkt)},
                                                {"reason", rd_kafka_err2str(message.err)}});
        watch.doubt();
    }
    std::unique_ptr<outcome_handler> handler(static_cast<outcome_handler*>(message._private));
    delivered.push_back({std::move(handler), acknowledged});
}

prometheus::Histogram& producer::state::duration(const rd_kafka_message_t& message)
{
    const bool acknowledged = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
    const std::string topic = rd_kafka_topic_name(message.rkt);
    auto& known = durations[{topic, acknowledged}];
    if (known == nullptr)
        known = &host.metrics().histogram(
            "messaging_client_operation_duration_seconds",
            "Time from send to the broker's acknowledgement", metrics::wait_buckets(),
            {{"operation", "send"}, {"topic", topic}, {"outcome", acknowledged ? "ok" : "error"}});
    return *known;
}

void producer::state::dispatch()
{
    if (delivered.empty())
        return;
    auto batch = std::make_shared<std::vector<delivery_report>>(std::exchange(delivered, {}));
    completions.push([self = shared_from_this(), batch] {
        for (const auto& one : *batch)
            if (!self->is_stopping)
                (*one.handler)(one.acknowledged);
        if (self->outstanding.fetch_sub(batch->size()) == batch->size())
            self->nothing_outstanding.cancel();
    });
}

bool producer::state::send(const message& outgoing, outcome_handler on_outcome)
{
    const std::shared_lock lock(client_mutex, std::try_to_lock);
    if (!lock || is_stopping)
        return false;

    rd_kafka_headers_t* headers = rd_kafka_headers_new(outgoing.headers.size());
    for (const auto& [name, value] : outgoing.headers)
        rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                            static_cast<ssize_t>(value.size()));
    auto handler = std::make_unique<outcome_handler>(std::move(on_outcome));
    // librdkafka takes a non-const pointer but only reads from it.
    void* const value = outgoing.is_tombstone ? nullptr : const_cast<char*>(outgoing.value.data());
    const std::size_t size = outgoing.is_tombstone ? 0 : outgoing.value.size();
    ++outstanding;
    const auto error = rd_kafka_producev(
        client.get(), RD_KAFKA_V_TOPIC(outgoing.topic.c_str()),
        RD_KAFKA_V_KEY(const_cast<char*>(outgoing.key.data()), outgoing.key.size()),
        RD_KAFKA_V_VALUE(value, size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(handler.get()), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        --outstanding;
        rd_kafka_headers_destroy(headers);
        if (error == RD_KAFKA_RESP_ERR__FATAL)
            has_failed_for_good = true;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            log::warning("event refused by the kafka client",
                         {{"topic", outgoing.topic}, {"reason", rd_kafka_err2str(error)}});
        return false;
    }
    // on_delivery gets it back.
    static_cast<void>(handler.release());
    return true;
}

void producer::state::stop()
{
    is_stopping = true;
    poller.join();
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(client.get()) > 0)
        rd_kafka_poll(client.get(), 10);
    delivered.clear();
    client.reset();
}

producer::producer(runtime::host& host, const settings& chosen)
    : state_(std::make_shared<state>(host, chosen))
{
    state_->poller = std::thread([me = state_.get()] { me->poll(); });
}

producer::~producer()
{
    state_->stop();
}

bool producer::send(message outgoing, outcome_handler on_outcome)
{
    return state_->send(outgoing, std::move(on_outcome));
}

awaitable<void> producer::flush(std::chrono::milliseconds timeout)
{
    const auto self = state_;
    const auto deadline = steady::now() + timeout;
    while (self->outstanding > 0 && steady::now() < deadline) {
        self->nothing_outstanding.expires_at(deadline);
        co_await self->nothing_outstanding.async_wait(
            boost::asio::as_tuple(boost::asio::use_awaitable));
    }
}

} // namespace tempinbox::kafka
