#pragma once

#include "common/kafka/client.hpp"

#include <librdkafka/rdkafka_mock.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tempinbox::testing {

// librdkafka's own broker, with one topic of one partition. It writes a batch that leaves a gap in
// the sequence of its producer, as a broker does that has no state of the producer's id yet.
class forgetful_broker
{
public:
    static constexpr auto topic = "events";

    forgetful_broker()
        : client_(kafka::configuration(nowhere(), "test").make(RD_KAFKA_PRODUCER)),
          cluster_(rd_kafka_mock_cluster_new(client_.get(), 1))
    {
        rd_kafka_mock_topic_create(cluster_, topic, 1, 1);
        // Batches sent one after the other are all under way before the first is answered.
        rd_kafka_mock_broker_set_rtt(cluster_, -1, 500);
    }
    ~forgetful_broker() { rd_kafka_mock_cluster_destroy(cluster_); }
    forgetful_broker(const forgetful_broker&) = delete;

    // The next batch is answered as by a broker that does not lead the partition any more.
    void refuse_next_batch()
    {
        constexpr std::int16_t produce_request = 0; // Kafka protocol, "API Keys"
        rd_kafka_mock_push_request_errors(cluster_, produce_request, 1,
                                          RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    }
    // With them each message is a batch.
    kafka::settings settings() const
    {
        kafka::settings found;
        found.brokers = rd_kafka_mock_cluster_bootstraps(cluster_);
        found.properties = {{"batch.num.messages", "1"}};
        return found;
    }
    std::int64_t count_records() const
    {
        const auto reader = kafka::configuration(settings(), "test").make(RD_KAFKA_PRODUCER);
        std::int64_t first = 0, end = 0;
        constexpr int partition = 0, timeout_millis = 10'000;
        if (rd_kafka_query_watermark_offsets(reader.get(), topic, partition, &first, &end,
                                             timeout_millis) != RD_KAFKA_RESP_ERR_NO_ERROR)
            throw std::runtime_error("the mock broker does not answer");
        return end - first;
    }

private:
    static kafka::settings nowhere()
    {
        kafka::settings unreachable;
        unreachable.brokers = "127.0.0.1:1";
        return unreachable;
    }

    kafka::client_handle client_;
    rd_kafka_mock_cluster_t* cluster_;
};

} // namespace tempinbox::testing
