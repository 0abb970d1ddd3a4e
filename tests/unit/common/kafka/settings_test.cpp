#include "common/kafka/settings.hpp"

#include "common/kafka/login.hpp"
#include "unit/common/scratch_folder.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;
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
    const testing::scratch_folder folder;
    const auto file =
        folder.write("kafka", "# TLS\nsecurity.protocol = ssl\n\nssl.ca.location=/etc/ca.pem\n");
    config::reader reader(given{{"kafka-properties-file", file}});

    const auto chosen = kafka::read_settings(reader);

    CHECK(chosen.properties ==
          std::map<std::string, std::string>{{"security.protocol", "ssl"},
                                             {"ssl.ca.location", "/etc/ca.pem"}});
    CHECK(chosen.properties_file == file);
    CHECK(reader.problems().empty());
}

TEST_CASE("a line that is no property is reported without its text", "[kafka]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("kafka", "a=b\nsasl.password: hunter2\n");
    config::reader reader(given{{"kafka-properties-file", file}});

    kafka::read_settings(reader);

    REQUIRE(reader.problems().size() == 1);
    CHECK_THAT(reader.problems()[0], Contains("has no `=` in line 2"));
    CHECK_THAT(reader.problems()[0], !Contains("hunter2"));
}

TEST_CASE("a prefix has the characters of a topic's name", "[kafka]")
{
    config::reader good(given{{"kafka-prefix", "Team-1_staging."}});
    CHECK(kafka::read_settings(good).prefix == "Team-1_staging.");
    CHECK(good.problems().empty());

    for (const auto& wrong :
         {std::string("a b"), std::string("a/"), std::string("\xc3\xa4."), std::string(65, 'x')}) {
        config::reader bad(given{{"kafka-prefix", wrong}});
        kafka::read_settings(bad);
        REQUIRE(bad.problems().size() == 1);
        CHECK_THAT(bad.problems()[0], Contains("kafka-prefix") && Contains("at most 64"));
    }
}

TEST_CASE("a rack is printable", "[kafka]")
{
    config::reader good(given{{"kafka-client-rack", "eu-central-1a"}});
    CHECK(kafka::read_settings(good).client_rack == "eu-central-1a");
    CHECK(good.problems().empty());

    config::reader bad(given{{"kafka-client-rack", "zone a"}});
    kafka::read_settings(bad);
    CHECK(bad.problems().size() == 1);
}

TEST_CASE("the password of SASL comes from a file of its own", "[kafka]")
{
    const testing::scratch_folder folder;
    const auto password = folder.write("password", "hunter2\n");
    const auto file = folder.write("kafka", "sasl.username=tempinbox\n");
    config::reader reader(
        given{{"kafka-properties-file", file}, {"kafka-sasl-password-file", password}});

    const auto chosen = kafka::read_settings(reader);

    CHECK(chosen.password.reveal() == "hunter2");
    CHECK(chosen.password_file == password);
    CHECK(reader.problems().empty());
    CHECK_THAT(reader.effective(), !Contains("hunter2"));
}

TEST_CASE("a password needs one user and one place", "[kafka]")
{
    const testing::scratch_folder folder;
    const auto password = folder.write("password", "hunter2\n");

    config::reader nobody(given{{"kafka-sasl-password-file", password}});
    kafka::read_settings(nobody);
    REQUIRE(nobody.problems().size() == 1);
    CHECK_THAT(nobody.problems()[0], Contains("needs sasl.username"));

    const auto file = folder.write("kafka", "sasl.username=a\nsasl.password=b\n");
    config::reader twice(
        given{{"kafka-properties-file", file}, {"kafka-sasl-password-file", password}});
    kafka::read_settings(twice);
    REQUIRE(twice.problems().size() == 1);
    CHECK_THAT(twice.problems()[0], Contains("must not have sasl.password"));

    config::reader empty(given{{"kafka-properties-file", folder.write("kafka", "sasl.username=a")},
                               {"kafka-sasl-password-file", folder.write("password", "\n")}});
    kafka::read_settings(empty);
    REQUIRE(empty.problems().size() == 1);
    CHECK_THAT(empty.problems()[0], Contains("is empty"));
}

TEST_CASE("a client's secret of SASL comes from a file of its own", "[kafka]")
{
    const testing::scratch_folder folder;
    const auto secret = folder.write("secret", "hunter2\n");
    const auto file =
        folder.write("kafka", "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.client.id=a\n"
                              "sasl.oauthbearer.token.endpoint.url=https://issuer.example/token\n");
    config::reader reader(
        given{{"kafka-properties-file", file}, {"kafka-sasl-client-secret-file", secret}});

    const auto chosen = kafka::read_settings(reader);

    CHECK(chosen.client_secret.reveal() == "hunter2");
    CHECK(chosen.client_secret_file == secret);
    CHECK_THAT(reader.effective(), !Contains("hunter2"));
    if (kafka::library_in_use().has_oidc) {
        CHECK(reader.problems().empty());
    } else {
        REQUIRE(reader.problems().size() == 1);
        CHECK_THAT(reader.problems()[0], Contains("needs a librdkafka built with libcurl"));
    }
}

TEST_CASE("a login that works with older brokers only is a warning", "[kafka]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("kafka", "sasl.mechanism=SCRAM-SHA-512\nsasl.username=a\n");
    config::reader reader(given{{"kafka-properties-file", file}});

    kafka::read_settings(reader);

    CHECK(reader.problems().empty());
    CHECK(reader.warnings().empty() == kafka::library_in_use().has_scram_of_4_0);
}

TEST_CASE("a file of schema ids that cannot be read is a problem that says why", "[kafka]")
{
    const testing::scratch_folder folder;
    const auto file = folder.write("ids", R"({"schemas":[{"topic":"t","subject":"s"}]})");
    config::reader bad(given{{"kafka-schema-ids-file", file}});
    kafka::read_settings(bad);
    REQUIRE(bad.problems().size() == 1);
    CHECK_THAT(bad.problems()[0], Contains("kafka-schema-ids-file") && Contains("guid"));

    config::reader good(given{{"kafka-schema-ids-file", folder.write("ids", "{\"schemas\":[]}")}});
    CHECK(kafka::read_settings(good).schema_ids_file == file);
    CHECK(good.problems().empty());
}
