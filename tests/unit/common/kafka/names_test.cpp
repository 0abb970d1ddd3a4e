#include "common/kafka/names.hpp"

#include "common/kafka/client.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;

namespace {

kafka::settings with_prefix(std::string prefix)
{
    kafka::settings chosen;
    chosen.brokers = "127.0.0.1:1";
    chosen.prefix = std::move(prefix);
    return chosen;
}

std::string property(rd_kafka_conf_t* conf, const char* name)
{
    char value[512] = "";
    std::size_t size = sizeof value;
    rd_kafka_conf_get(conf, name, value, &size);
    return value;
}

} // namespace

TEST_CASE("names in kafka have the installation's prefix", "[kafka]")
{
    const auto staging = with_prefix("staging.");

    CHECK(kafka::prefixed(staging, "email.received") == "staging.email.received");
    CHECK(kafka::without_prefix(staging, "staging.email.received") == "email.received");
    CHECK(kafka::without_prefix(staging, "email.received") == "email.received");
    CHECK(kafka::client_id(staging, "inbox") == "staging.tempinbox-inbox");
}

TEST_CASE("without a prefix names are as in the code", "[kafka]")
{
    const auto plain = with_prefix("");

    CHECK(kafka::prefixed(plain, "email.received") == "email.received");
    CHECK(kafka::without_prefix(plain, "email.received") == "email.received");
    CHECK(kafka::client_id(plain, "inbox") == "tempinbox-inbox");
}

TEST_CASE("an operator's client.id is taken as it is", "[kafka]")
{
    auto chosen = with_prefix("staging.");
    chosen.properties = {{"client.id", "mine"}};

    CHECK(kafka::client_id(chosen, "inbox") == "mine");
}

TEST_CASE("every client has prefix, rack and password", "[kafka]")
{
    auto chosen = with_prefix("staging.");
    chosen.client_rack = "zone-a";
    chosen.password = secret("first");

    kafka::configuration conf(chosen, "inbox");

    CHECK(property(conf.get(), "client.id") == "staging.tempinbox-inbox");
    CHECK(property(conf.get(), "client.rack") == "zone-a");
    CHECK(property(conf.get(), "sasl.password") == "first");
}

TEST_CASE("partitions are named without the prefix on this side", "[kafka]")
{
    const auto staging = with_prefix("staging.");
    const kafka::partition_list list(rd_kafka_topic_partition_list_new(1));

    const auto& added = kafka::add_to(list, staging, {"email.received", 3});

    CHECK(std::string(added.topic) == "staging.email.received");
    CHECK(kafka::read_name(staging, added) == kafka::partition_name{"email.received", 3});
}
