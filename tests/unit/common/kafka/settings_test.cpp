#include "common/kafka/settings.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace tempinbox;
using given = std::map<std::string, std::string>;

TEST_CASE("brokers are a list of host:port", "[kafka]")
{
    config::reader good(given{{"kafka-brokers", "a:1, b:2"}});
    CHECK(kafka::read_settings(good).brokers == "a:1,b:2");
    CHECK(good.problems().empty());

    config::reader bad(given{{"kafka-brokers", "nowhere"}});
    kafka::read_settings(bad);
    CHECK(bad.problems().size() == 1);
}

TEST_CASE("more properties come from a file", "[kafka]")
{
    const auto path = std::filesystem::temp_directory_path() / "tempinbox-kafka-properties-test";
    std::ofstream(path) << "# TLS\nsecurity.protocol = ssl\n\nssl.ca.location=/etc/ca.pem\n";
    config::reader reader(given{{"kafka-properties-file", path.string()}});

    const auto chosen = kafka::read_settings(reader);
    std::filesystem::remove(path);

    CHECK(chosen.properties ==
          std::map<std::string, std::string>{{"security.protocol", "ssl"},
                                             {"ssl.ca.location", "/etc/ca.pem"}});
    CHECK(reader.problems().empty());
}
