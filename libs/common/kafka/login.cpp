#include "common/kafka/login.hpp"

#include <librdkafka/rdkafka.h>

#include <memory>

namespace tempinbox::kafka {
namespace {

constexpr std::string_view properties_setting = "kafka-properties-file";
constexpr std::string_view password_setting = "kafka-sasl-password-file";
constexpr std::string_view client_secret_setting = "kafka-sasl-client-secret-file";

// As rd_kafka_version() has them: a byte each of major, minor, revision and candidate.
constexpr int version_number(int major, int minor, int revision)
{
    return major << 24 | minor << 16 | revision << 8;
}

std::string find_value(const std::map<std::string, std::string>& properties,
                       const std::string& name)
{
    const auto found = properties.find(name);
    return found == properties.end() ? std::string() : found->second;
}

// librdkafka knows it by two names.
std::string mechanism_of(const std::map<std::string, std::string>& properties)
{
    const auto mechanism = find_value(properties, "sasl.mechanism");
    return mechanism.empty() ? find_value(properties, "sasl.mechanisms") : mechanism;
}

bool is_oauthbearer(const std::map<std::string, std::string>& properties)
{
    return mechanism_of(properties) == "OAUTHBEARER";
}

std::string features_of_library()
{
    const std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(
        rd_kafka_conf_new(), &rd_kafka_conf_destroy);
    char features[512] = "";
    std::size_t size = sizeof features;
    return rd_kafka_conf_get(conf.get(), "builtin.features", features, &size) == RD_KAFKA_CONF_OK
               ? features
               : "";
}

bool is_url(std::string_view text)
{
    return text.starts_with("https://") || text.starts_with("http://");
}

void check_password(const settings& chosen, std::vector<login_problem>& problems)
{
    if (chosen.password_file.empty())
        return;
    if (is_oauthbearer(chosen.properties))
        problems.push_back(
            {password_setting, "is for PLAIN and SCRAM: OAUTHBEARER takes its secret from " +
                                   std::string(client_secret_setting)});
    else if (!chosen.properties.contains("sasl.username"))
        problems.push_back({password_setting, "needs sasl.username in kafka-properties-file"});
    if (chosen.properties.contains("sasl.password"))
        problems.push_back(
            {password_setting, "kafka-properties-file must not have sasl.password, too"});
}

void check_client_secret(const settings& chosen, std::vector<login_problem>& problems)
{
    const bool is_in_file = !chosen.client_secret_file.empty();
    const bool is_in_properties = chosen.properties.contains("sasl.oauthbearer.client.secret");
    if (is_in_file && !uses_client_credentials(chosen.properties))
        problems.push_back(
            {client_secret_setting, "needs sasl.mechanism = OAUTHBEARER in kafka-properties-file"});
    else if (is_in_file && is_in_properties)
        problems.push_back(
            {client_secret_setting,
             "kafka-properties-file must not have sasl.oauthbearer.client.secret, too"});
    else if (!is_in_file && !is_in_properties && uses_client_credentials(chosen.properties))
        problems.push_back({client_secret_setting, "must be given for OAUTHBEARER"});
}

void check_issuer(const std::map<std::string, std::string>& properties,
                  std::vector<login_problem>& problems)
{
    if (!uses_client_credentials(properties))
        return;
    if (find_value(properties, "sasl.oauthbearer.client.id").empty())
        problems.push_back(
            {properties_setting, "needs sasl.oauthbearer.client.id for OAUTHBEARER"});
    if (!is_url(find_value(properties, "sasl.oauthbearer.token.endpoint.url")))
        problems.push_back({properties_setting,
                            "needs sasl.oauthbearer.token.endpoint.url for OAUTHBEARER, such as "
                            "https://issuer.example/token"});
}

void check_library(const std::map<std::string, std::string>& properties, const library& used,
                   std::vector<login_problem>& problems)
{
    const auto own = "; this is librdkafka " + used.version;
    if (uses_client_credentials(properties) && !used.has_oidc)
        problems.push_back({properties_setting,
                            "has sasl.mechanism OAUTHBEARER, which needs a librdkafka built with "
                            "libcurl, such as 2.8.0 of Debian 13" +
                                own + " without it"});
    if (properties.contains("https.ca.location") && !used.has_https_ca)
        problems.push_back(
            {properties_setting, "has https.ca.location, which needs librdkafka 2.11.0" + own +
                                     ": leave it out, and let the system trust the issuer's "
                                     "authority"});
}

} // namespace

library library_in_use()
{
    library used;
    used.version = rd_kafka_version_str();
    used.has_oidc = ("," + features_of_library() + ",").find(",oidc,") != std::string::npos;
    used.has_https_ca = rd_kafka_version() >= version_number(2, 11, 0);
    used.has_scram_of_4_0 = rd_kafka_version() >= version_number(2, 6, 1);
    return used;
}

bool uses_client_credentials(const std::map<std::string, std::string>& properties)
{
    if (!is_oauthbearer(properties) ||
        find_value(properties, "enable.sasl.oauthbearer.unsecure.jwt") == "true")
        return false;
    // Later versions know other grants, and clouds that name their machines; those need no secret.
    const auto grant = find_value(properties, "sasl.oauthbearer.grant.type");
    const auto machine = find_value(properties, "sasl.oauthbearer.metadata.authentication.type");
    return (grant.empty() || grant == "client_credentials") &&
           (machine.empty() || machine == "none");
}

std::vector<login_problem> login_problems(const settings& chosen, const library& used)
{
    std::vector<login_problem> problems;
    check_library(chosen.properties, used, problems);
    check_issuer(chosen.properties, problems);
    check_password(chosen, problems);
    check_client_secret(chosen, problems);
    return problems;
}

std::optional<std::string> login_warning(const settings& chosen, const library& used)
{
    if (!mechanism_of(chosen.properties).starts_with("SCRAM-") || used.has_scram_of_4_0)
        return std::nullopt;
    return "SCRAM of librdkafka " + used.version +
           " works with brokers before 4.0 only: later ones refuse it as invalid credentials, "
           "whatever the password; it takes librdkafka 2.6.1";
}

} // namespace tempinbox::kafka
