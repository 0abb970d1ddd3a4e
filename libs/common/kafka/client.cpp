#include "common/kafka/client.hpp"

#include "common/core/text.hpp"
#include "common/kafka/login.hpp"
#include "common/kafka/names.hpp"
#include "common/log/log.hpp"

namespace tempinbox::kafka {
namespace {

void write_log(const rd_kafka_t*, int syslog_level, const char* facility, const char* text)
{
    constexpr int syslog_warning = 4;
    // FAIL, ERROR and OIDC repeat for every failed attempt; health reports the loss once, and
    // broker_watch a failed login.
    const std::string_view kind = facility;
    const bool is_already_reported = kind == "FAIL" || kind == "ERROR" || kind == "OIDC";
    log::write(syslog_level <= syslog_warning && !is_already_reported ? log::level::warning
                                                                      : log::level::debug,
               "kafka client", {{"facility", kind}, {"text", text}});
}

std::string login_failure(std::string_view reason)
{
    constexpr std::size_t max_reason = 500; // an issuer's whole response may be in it
    return "login failed: " + std::string(take_bytes(reason, max_reason));
}

} // namespace

configuration::configuration(const settings& cluster, std::string_view program)
    : conf_(rd_kafka_conf_new()),
      chosen_by_operator_(cluster.properties)
{
    for (const auto& [name, value] : chosen_by_operator_)
        set(name, value);
    set("bootstrap.servers", cluster.brokers);
    set("allow.auto.create.topics", "false");
    set("client.id", client_id(cluster, program));
    if (!cluster.client_rack.empty())
        set("client.rack", cluster.client_rack);
    if (!cluster.password.empty())
        set("sasl.password", cluster.password.reveal());
    if (!cluster.client_secret.empty())
        set("sasl.oauthbearer.client.secret", cluster.client_secret.reveal());
    if (uses_client_credentials(cluster.properties))
        suggest("sasl.oauthbearer.method", "oidc");
    suggest("reconnect.backoff.ms", "50");
    suggest("reconnect.backoff.max.ms", "1000");
    suggest("topic.metadata.refresh.interval.ms", "10000");
    suggest("socket.keepalive.enable", "true");
    suggest("log.connection.close", "false");
    rd_kafka_conf_set_log_cb(conf_.get(), &write_log);
}

void configuration::suggest(const std::string& name, const std::string& value)
{
    if (!chosen_by_operator_.contains(name))
        set(name, value);
}

void configuration::set(const std::string& name, const std::string& value)
{
    char reason[512];
    if (rd_kafka_conf_set(conf_.get(), name.c_str(), value.c_str(), reason, sizeof reason) !=
        RD_KAFKA_CONF_OK)
        throw std::runtime_error("kafka property " + name + ": " + reason);
}

void configuration::be_quiet()
{
    rd_kafka_conf_set_log_cb(conf_.get(), nullptr);
    rd_kafka_conf_set_events(conf_.get(), RD_KAFKA_EVENT_ERROR);
}

client_handle configuration::make(rd_kafka_type_t kind)
{
    char reason[512];
    client_handle client(rd_kafka_new(kind, conf_.get(), reason, sizeof reason));
    if (!client)
        throw std::runtime_error(std::string("kafka client: ") + reason);
    // The client owns the configuration now.
    static_cast<void>(conf_.release());
    return client;
}

failure unreachable(rd_kafka_t* client, rd_kafka_resp_err_t error)
{
    const queue_handle queue(rd_kafka_queue_get_main(client));
    while (const event_handle event{rd_kafka_queue_poll(queue.get(), 0)})
        if (rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR__AUTHENTICATION)
            return {errc::unauthenticated,
                    "Kafka does not let this process in: " +
                        login_failure(rd_kafka_event_error_string(event.get()))};
    return {errc::unavailable, std::string("Kafka does not answer: ") + rd_kafka_err2str(error)};
}

broker_watch::broker_watch(runtime::host& host) : host_(host)
{
    host_.health().expect("kafka");
}

void broker_watch::on_error(rd_kafka_resp_err_t error, const char* reason)
{
    if (error == RD_KAFKA_RESP_ERR__AUTHENTICATION)
        on_failed_login(reason);
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        // A login that failed while brokers were reachable, long before, is not why they are away.
        if (is_reachable_ &&
            std::chrono::steady_clock::now() - last_failed_login_ > std::chrono::seconds(30))
            failed_login_.clear();
        is_reachable_ = false;
        host_.health().lost("kafka", failed_login_.empty() ? std::string_view(reason)
                                                           : std::string_view(failed_login_));
    }
}

// Each broker refuses a login, and again and again, in words that differ by its name or a count.
void broker_watch::on_failed_login(std::string_view reason)
{
    failed_login_ = login_failure(reason);
    const auto now = std::chrono::steady_clock::now();
    last_failed_login_ = now;
    if (now < next_login_log_)
        return;
    next_login_log_ = now + std::chrono::minutes(1);
    log::error("kafka does not let this process in", {{"reason", failed_login_}});
}

void broker_watch::check(rd_kafka_t* client)
{
    constexpr int timeout_millis = 1'000;
    const auto now = std::chrono::steady_clock::now();
    if ((is_reachable_ && !is_in_doubt_) || now < next_check_)
        return;
    const rd_kafka_metadata_t* raw = nullptr;
    const auto error = rd_kafka_metadata(client, 0, nullptr, &raw, timeout_millis);
    const handle<const rd_kafka_metadata_t> metadata(raw);
    next_check_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    is_in_doubt_ = false;
    is_reachable_ = error == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (is_reachable_) {
        failed_login_.clear();
        next_login_log_ = {};
        host_.health().met("kafka");
    } else {
        host_.health().lost("kafka", failed_login_.empty() ? rd_kafka_err2str(error)
                                                           : failed_login_.c_str());
    }
}

partition_name read_name(const settings& cluster, const rd_kafka_topic_partition_t& partition)
{
    return {without_prefix(cluster, partition.topic), partition.partition};
}

rd_kafka_topic_partition_t& add_to(const partition_list& list, const settings& cluster,
                                   const partition_name& name)
{
    return *rd_kafka_topic_partition_list_add(list.get(), prefixed(cluster, name.topic).c_str(),
                                              name.number);
}

record read_record(const settings& cluster, const rd_kafka_message_t& message)
{
    record read;
    read.topic = without_prefix(cluster, rd_kafka_topic_name(message.rkt));
    read.partition = message.partition;
    read.offset = message.offset;
    if (message.key != nullptr)
        read.key.assign(static_cast<const char*>(message.key), message.key_len);
    if (message.payload != nullptr)
        read.value.assign(static_cast<const char*>(message.payload), message.len);
    read.is_tombstone = message.payload == nullptr;
    read.timestamp_millis = rd_kafka_message_timestamp(&message, nullptr);

    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const char* name = nullptr;
        const void* value = nullptr;
        std::size_t size = 0;
        for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) ==
                                RD_KAFKA_RESP_ERR_NO_ERROR;
             ++i)
            read.headers.emplace_back(
                name, value == nullptr ? std::string()
                                       : std::string(static_cast<const char*>(value), size));
    }
    return read;
}

} // namespace tempinbox::kafka
