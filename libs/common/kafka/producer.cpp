#include "common/kafka/producer.hpp"

#include "common/kafka/client.hpp"
#include "common/kafka/client_reloader.hpp"
#include "common/kafka/names.hpp"
#include "common/kafka/schema_ids.hpp"
#include "common/log/log.hpp"
#include "common/runtime/completion_queue.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <mutex>

namespace tempinbox::kafka {
namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

// How long a client that is replaced may take for what it has. What is held meanwhile must still be
// acknowledged, or given up, before the lease of its outbox row ends.
constexpr auto replacement_timeout = 5s;
constexpr auto failed_replacement_delay = 1s;
// What is held meanwhile; as much as the client's own queue.
constexpr std::size_t max_held_messages = 50'000;
constexpr std::size_t max_held_bytes = 16 * 1024 * 1024;
// librdkafka's message.max.bytes.
constexpr std::size_t max_message_bytes = 1'000'000;

std::size_t size_of(const message& one)
{
    std::size_t bytes = one.key.size() + one.value.size();
    for (const auto& [name, value] : one.headers)
        bytes += name.size() + value.size();
    return bytes;
}

void add_header(rd_kafka_headers_t* headers, std::string_view name, std::string_view value)
{
    rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
}

// A tombstone has no value; a dead letter that is replayed may have its id already.
bool needs_schema_id(const message& one)
{
    return !one.is_tombstone &&
           std::none_of(one.headers.begin(), one.headers.end(),
                        [](const auto& header) { return header.first == schema_id_header; });
}

// Whether the log of the partition has the message: only the offset that the leader gave it says
// so. An idempotent client also reports success for a message that it infers to be there, because a
// later one of the partition was accepted. A leader that does not know the producer id yet accepts
// a gap, and then the inferred one is nowhere
// (docs/decisions/0024-an-acknowledgement-is-an-offset.md).
bool is_acknowledged(const rd_kafka_message_t& report)
{
    return report.err == RD_KAFKA_RESP_ERR_NO_ERROR && report.offset >= 0;
}

// Sent while the client is replaced.
struct held_message
{
    message outgoing;
    producer::outcome_handler handler;
};

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
    bool send(message outgoing, outcome_handler on_outcome);
    bool hold(message outgoing, outcome_handler on_outcome);
    rd_kafka_resp_err_t produce(const message& outgoing, outcome_handler on_outcome);
    void stop();

    client_handle make_client(const settings& now);
    void replace_failed_client();
    void replace_client(client_handle next, steady::duration timeout);
    void finish_client(steady::duration timeout);
    void release_held();
    void on_delivery(const rd_kafka_message_t& message);
    void dispatch();
    prometheus::Histogram& duration(const std::string& topic, bool acknowledged);

    runtime::host& host;
    const settings cluster; // for names; the properties in use are those of `clients`
    const std::string client_name;
    runtime::completion_queue completions;
    broker_watch watch;
    client_reloader clients;
    schema_ids schemas;
    // Guards the next four, except that the poll thread reads `client` without it: only that thread
    // changes it.
    std::mutex client_mutex;
    client_handle client;
    bool is_replacing = false;
    std::vector<held_message> held;
    std::size_t held_bytes = 0;
    std::thread poller;
    std::atomic<bool> is_stopping{false};
    std::atomic<bool> has_failed_for_good{false};
    std::atomic<std::size_t> outstanding{0}; // sent and not yet reported to the loop
    std::vector<delivery_report> delivered;  // used on the poll thread
    steady::time_point next_attempt;         // to replace a client that failed for good
    std::map<std::pair<std::string, bool>, prometheus::Histogram*> durations;
    prometheus::Counter& implicit_acks;
    boost::asio::steady_timer nothing_outstanding;
};

producer::state::state(runtime::host& where, const settings& chosen)
    : host(where),
      cluster(chosen),
      client_name(client_id(chosen, where.name())),
      completions(where.loop()),
      watch(where),
      clients(where, chosen, [this](const settings& now) { return make_client(now); }),
      schemas(where, chosen.schema_ids_file),
      client(clients.start()),
      implicit_acks(where.metrics().counter(
          "tempinbox_kafka_implicit_acks_total",
          "Events that the Kafka client reported as written without an offset; sent again")),
      nothing_outstanding(where.loop())
{}

client_handle producer::state::make_client(const settings& now)
{
    configuration conf(now, host.name());
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
        if (has_failed_for_good && steady::now() >= next_attempt)
            replace_failed_client();
        if (auto next = clients.take(client.get()))
            replace_client(std::move(next), replacement_timeout);
        watch.check(client.get());
    }
}

// The broker lost the state that makes retries idempotent (KIP-360's unrecoverable cases): this
// client cannot send any more.
void producer::state::replace_failed_client()
{
    char reason[512] = "";
    rd_kafka_fatal_error(client.get(), reason, sizeof reason);
    log::error("replacing the kafka producer after a fatal error", {{"reason", reason}});
    client_handle next;
    try {
        next = clients.make_anew();
    } catch (const std::exception& error) {
        // A certificate may be unreadable just now: tried again, while nothing can be sent.
        log::error("kafka producer not recreated, it will be tried again",
                   {{"reason", error.what()}});
        next_attempt = steady::now() + failed_replacement_delay;
        return;
    }
    replace_client(std::move(next), 0s);
}

void producer::state::replace_client(client_handle next, steady::duration timeout)
{
    {
        const std::lock_guard lock(client_mutex);
        is_replacing = true;
    }
    finish_client(timeout);
    {
        const std::lock_guard lock(client_mutex);
        client.swap(next);
        has_failed_for_good = false;
        release_held();
        is_replacing = false;
    }
    dispatch();
    // `next` is the old client; its end joins its threads, so the lock is released before.
}

// Every message that the client has gets its outcome.
void producer::state::finish_client(steady::duration timeout)
{
    const auto deadline = steady::now() + timeout;
    while (rd_kafka_outq_len(client.get()) > 0 && steady::now() < deadline && !is_stopping) {
        rd_kafka_poll(client.get(), 10);
        dispatch();
    }
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(client.get()) > 0)
        rd_kafka_poll(client.get(), 10);
    dispatch();
}

// In the order in which they were sent. What the client refuses is not acknowledged.
void producer::state::release_held()
{
    for (auto& one : held) {
        auto handler = std::make_unique<outcome_handler>(one.handler);
        if (produce(one.outgoing, std::move(one.handler)) != RD_KAFKA_RESP_ERR_NO_ERROR)
            delivered.push_back({std::move(handler), false});
    }
    held.clear();
    held_bytes = 0;
}

void producer::state::on_delivery(const rd_kafka_message_t& message)
{
    const bool acknowledged = is_acknowledged(message);
    const std::string topic = rd_kafka_topic_name(message.rkt);
    duration(topic, acknowledged)
        .Observe(static_cast<double>(rd_kafka_message_latency(&message)) / 1e6);
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        log::warning("event not acknowledged",
                     {{"topic", topic}, {"reason", rd_kafka_err2str(message.err)}});
        watch.doubt();
    } else if (!acknowledged) {
        log::warning("event not acknowledged",
                     {{"topic", topic}, {"reason", "the broker named no offset"}});
        implicit_acks.Increment();
    }
    std::unique_ptr<outcome_handler> handler(static_cast<outcome_handler*>(message._private));
    delivered.push_back({std::move(handler), acknowledged});
}

prometheus::Histogram& producer::state::duration(const std::string& topic, bool acknowledged)
{
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

bool producer::state::send(message outgoing, outcome_handler on_outcome)
{
    const std::lock_guard lock(client_mutex);
    if (is_stopping)
        return false;
    ++outstanding;
    const bool is_taken =
        is_replacing ? hold(std::move(outgoing), std::move(on_outcome))
                     : produce(outgoing, std::move(on_outcome)) == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!is_taken)
        --outstanding;
    return is_taken;
}

bool producer::state::hold(message outgoing, outcome_handler on_outcome)
{
    const auto bytes = size_of(outgoing);
    if (held.size() >= max_held_messages || held_bytes + bytes > max_held_bytes ||
        bytes > max_message_bytes)
        return false;
    held_bytes += bytes;
    held.push_back({std::move(outgoing), std::move(on_outcome)});
    return true;
}

// The caller holds the lock.
rd_kafka_resp_err_t producer::state::produce(const message& outgoing, outcome_handler on_outcome)
{
    rd_kafka_headers_t* headers = rd_kafka_headers_new(outgoing.headers.size() + 1);
    for (const auto& [name, value] : outgoing.headers)
        add_header(headers, name, value);
    if (const auto schema = schemas.find(outgoing.topic); schema && needs_schema_id(outgoing))
        add_header(headers, schema_id_header, *schema);
    auto handler = std::make_unique<outcome_handler>(std::move(on_outcome));
    const auto topic = prefixed(cluster, outgoing.topic);
    // librdkafka takes a non-const pointer but only reads from it.
    void* const value = outgoing.is_tombstone ? nullptr : const_cast<char*>(outgoing.value.data());
    const std::size_t size = outgoing.is_tombstone ? 0 : outgoing.value.size();
    const auto error = rd_kafka_producev(
        client.get(), RD_KAFKA_V_TOPIC(topic.c_str()),
        RD_KAFKA_V_KEY(const_cast<char*>(outgoing.key.data()), outgoing.key.size()),
        RD_KAFKA_V_VALUE(value, size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(handler.get()), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
        if (error == RD_KAFKA_RESP_ERR__FATAL)
            has_failed_for_good = true;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            log::warning("event refused by the kafka client",
                         {{"topic", topic}, {"reason", rd_kafka_err2str(error)}});
        return error;
    }
    // on_delivery gets it back.
    static_cast<void>(handler.release());
    return error;
}

void producer::state::stop()
{
    clients.stop();
    schemas.stop();
    is_stopping = true;
    poller.join();
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(client.get()) > 0)
        rd_kafka_poll(client.get(), 10);
    delivered.clear();
    held.clear();
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
    return state_->send(std::move(outgoing), std::move(on_outcome));
}

std::string producer::topic_name(std::string_view topic) const
{
    return prefixed(state_->cluster, topic);
}

const std::string& producer::client_name() const
{
    return state_->client_name;
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
