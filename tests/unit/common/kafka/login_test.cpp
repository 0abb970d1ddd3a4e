#include "common/kafka/login.hpp"

#include <catch2/catch.hpp>

using namespace tempinbox;
using Catch::Contains;

namespace {

const kafka::library of_debian_12{"2.0.2", false, false, false};
const kafka::library of_debian_13{"2.8.0", true, false, true};
const kafka::library newest{"2.15.0", true, true, true};

kafka::settings oauthbearer()
{
    kafka::settings chosen;
    chosen.properties = {{"security.protocol", "sasl_ssl"},
                         {"sasl.mechanism", "OAUTHBEARER"},
                         {"sasl.oauthbearer.client.id", "tempinbox"},
                         {"sasl.oauthbearer.token.endpoint.url", "https://issuer.example/token"}};
    chosen.client_secret_file = "/run/secrets/client";
    return chosen;
}

kafka::settings scram()
{
    kafka::settings chosen;
    chosen.properties = {{"sasl.mechanism", "SCRAM-SHA-512"}, {"sasl.username", "tempinbox"}};
    chosen.password_file = "/run/secrets/password";
    return chosen;
}

std::string only_problem(const kafka::settings& chosen, const kafka::library& used)
{
    const auto problems = kafka::login_problems(chosen, used);
    if (problems.size() != 1)
        return std::to_string(problems.size()) + " problems";
    return std::string(problems[0].setting) + " " + problems[0].text;
}

} // namespace

TEST_CASE("OAUTHBEARER by a client's secret takes a librdkafka with libcurl", "[kafka]")
{
    CHECK(kafka::login_problems(oauthbearer(), of_debian_13).empty());
    CHECK(kafka::login_problems(oauthbearer(), newest).empty());
    CHECK_THAT(only_problem(oauthbearer(), of_debian_12),
               Contains("kafka-properties-file") && Contains("built with libcurl") &&
                   Contains("2.8.0 of Debian 13") && Contains("this is librdkafka 2.0.2"));
}

TEST_CASE("an issuer's own authority takes a librdkafka that has a setting for it", "[kafka]")
{
    auto chosen = oauthbearer();
    chosen.properties["https.ca.location"] = "/etc/issuer.pem";

    CHECK(kafka::login_problems(chosen, newest).empty());
    CHECK_THAT(only_problem(chosen, of_debian_13),
               Contains("needs librdkafka 2.11.0") && Contains("this is librdkafka 2.8.0"));
}

TEST_CASE("all that OAUTHBEARER lacks is listed at once", "[kafka]")
{
    kafka::settings chosen;
    chosen.properties = {{"sasl.mechanisms", "OAUTHBEARER"},
                         {"sasl.oauthbearer.token.endpoint.url", "issuer.example"}};

    const auto problems = kafka::login_problems(chosen, of_debian_12);

    REQUIRE(problems.size() == 4);
    CHECK_THAT(problems[0].text, Contains("needs a librdkafka"));
    CHECK_THAT(problems[1].text, Contains("sasl.oauthbearer.client.id"));
    CHECK_THAT(problems[2].text, Contains("sasl.oauthbearer.token.endpoint.url"));
    CHECK(problems[3].setting == "kafka-sasl-client-secret-file");
    CHECK_THAT(problems[3].text, Contains("must be given"));
}

TEST_CASE("a client's secret has one place", "[kafka]")
{
    auto chosen = oauthbearer();
    chosen.properties["sasl.oauthbearer.client.secret"] = "hunter2";
    CHECK_THAT(only_problem(chosen, newest), Contains("must not have") && !Contains("hunter2"));

    chosen.client_secret_file.clear();
    CHECK(kafka::login_problems(chosen, newest).empty());
}

TEST_CASE("a secret of another mechanism is refused", "[kafka]")
{
    auto with_password = oauthbearer();
    with_password.password_file = "/run/secrets/password";
    CHECK_THAT(only_problem(with_password, newest), Contains("is for PLAIN and SCRAM"));

    auto with_client_secret = scram();
    with_client_secret.client_secret_file = "/run/secrets/client";
    CHECK_THAT(only_problem(with_client_secret, newest), Contains("needs sasl.mechanism"));
}

TEST_CASE("tokens that come without a client's secret are librdkafka's to judge", "[kafka]")
{
    for (const auto& [name, value] :
         {std::pair{"enable.sasl.oauthbearer.unsecure.jwt", "true"},
          std::pair{"sasl.oauthbearer.grant.type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
          std::pair{"sasl.oauthbearer.metadata.authentication.type", "azure_imds"}}) {
        kafka::settings chosen;
        chosen.properties = {{"sasl.mechanism", "OAUTHBEARER"}, {name, value}};
        CHECK(kafka::login_problems(chosen, newest).empty());
    }
}

TEST_CASE("SCRAM of a librdkafka before 2.6.1 is a risk, not a problem", "[kafka]")
{
    CHECK(kafka::login_problems(scram(), of_debian_12).empty());
    const auto warning = kafka::login_warning(scram(), of_debian_12);
    REQUIRE(warning);
    CHECK_THAT(*warning, Contains("librdkafka 2.0.2") && Contains("brokers before 4.0") &&
                             Contains("it takes librdkafka 2.6.1"));
    CHECK_FALSE(kafka::login_warning(scram(), of_debian_13));

    auto plain = scram();
    plain.properties["sasl.mechanism"] = "PLAIN";
    CHECK_FALSE(kafka::login_warning(plain, of_debian_12));
}
