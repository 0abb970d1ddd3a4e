#include "tempinboxctl/session.hpp"

#include "common/testing/await.hpp"
#include "tempinboxctl/command.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace tempinbox;
using namespace tempinbox::ctl;

TEST_CASE("a cluster with TLS and SASL is reached as the services reach it", "[tempinboxctl]")
{
    testing::scratch_folder folder;
    const auto file = folder.write("kafka.properties",
                                   "security.protocol = SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n");
    config::reader reader({{"kafka-brokers", "kafka:9093"},
                           {"kafka-properties-file", file},
                           {"kafka-prefix", "staging."}});
    session suite(testing::test_host(), read_settings(reader));

    CHECK(reader.problems().empty());
    CHECK(suite.kafka().brokers == "kafka:9093");
    CHECK(suite.kafka().prefix == "staging.");
    CHECK(suite.kafka().properties ==
          std::map<std::string, std::string>{{"security.protocol", "SASL_SSL"},
                                             {"sasl.mechanism", "SCRAM-SHA-512"}});
}

TEST_CASE("a secret may come by standard input", "[tempinboxctl]")
{
    std::istringstream in("correct horse\r\nbattery\n"), nothing;

    CHECK(word_or_line("on the line", in).value() == "on the line");
    CHECK(word_or_line("-", in).value() == "correct horse");
    CHECK_FALSE(word_or_line("-", nothing));
}
