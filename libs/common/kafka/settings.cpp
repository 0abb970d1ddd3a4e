#include "common/kafka/settings.hpp"

#include "common/core/ascii.hpp"
#include "common/core/text.hpp"
#include "common/kafka/login.hpp"
#include "common/kafka/schema_ids.hpp"
#include "common/runtime/file_watch.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace tempinbox::kafka {
namespace {

constexpr std::size_t max_prefix = 64;
// A topic's name has up to 249 characters, a zone's fewer.
constexpr std::size_t max_rack = 249;

// What Kafka allows in a topic's name.
bool is_name_character(char c)
{
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
}

std::string read_prefix(config::reader& reader)
{
    constexpr const char* name = "kafka-prefix";
    auto prefix = reader.text(name, "",
                              "Put before the name of every topic, consumer group and client, such "
                              "as `staging.`, so that several installations can share one Kafka");
    if (prefix.size() > max_prefix || !std::all_of(prefix.begin(), prefix.end(), is_name_character))
        reader.add_problem(name, "must be at most 64 letters, digits, `.`, `_` and `-`: " +
                                     quote(prefix));
    return prefix;
}

std::string read_rack(config::reader& reader)
{
    constexpr const char* name = "kafka-client-rack";
    auto rack = reader.text(name, "",
                            "The zone of this process (librdkafka's client.rack): Kafka lets it "
                            "read from copies in the same zone");
    if (rack.size() > max_rack ||
        !std::all_of(rack.begin(), rack.end(), [](char c) { return c > ' ' && c < '\x7f'; }))
        reader.add_problem(name, "must be at most 249 printable ASCII characters without spaces: " +
                                     quote(rack));
    return rack;
}

// A file that cannot be opened is a problem already.
bool has_problem(const config::reader& reader, std::size_t before)
{
    return reader.problems().size() != before;
}

template <class Read>
void read_file(config::reader& reader, std::string_view name, const Read& read)
{
    try {
        read();
    } catch (const std::runtime_error& error) {
        // One problem among others, which are all reported at once.
        reader.add_problem(name, error.what());
    }
}

secret read_secret_file(config::reader& reader, std::string_view name, std::string_view meaning,
                        std::string& file)
{
    const auto before = reader.problems().size();
    file = reader.readable_file(name, "", meaning);
    secret value;
    if (!file.empty() && !has_problem(reader, before))
        read_file(reader, name, [&] { value = secret(runtime::read_one_line(file)); });
    return value;
}

void read_schema_ids_file(config::reader& reader, settings& chosen)
{
    constexpr const char* name = "kafka-schema-ids-file";
    const auto before = reader.problems().size();
    chosen.schema_ids_file = reader.readable_file(
        name, "",
        "What `tempinboxctl schemas publish` wrote: events get the header `__value_schema_id`, by "
        "which a consumer finds their schema in a registry; read again when it changes");
    if (!chosen.schema_ids_file.empty() && !has_problem(reader, before))
        read_file(reader, name, [&chosen] { read_published_schemas(chosen.schema_ids_file); });
}

} // namespace

settings read_settings(config::reader& reader)
{
    settings chosen;
    for (const auto& broker :
         reader.addresses("kafka-brokers", "127.0.0.1:9092", "Kafka brokers to start from"))
        chosen.brokers += (chosen.brokers.empty() ? "" : ",") + broker.text();
    read_client_settings(reader, chosen);
    // queued.max.messages.kbytes of a consumer, queue.buffering.max.kbytes of a producer, and what
    // it holds while its client is replaced.
    constexpr std::uint64_t queued_bytes = 3 * 16 * 1024 * 1024;
    reader.add_memory("queues of the Kafka client", queued_bytes);
    return chosen;
}

void read_client_settings(config::reader& reader, settings& chosen)
{
    constexpr const char* properties_name = "kafka-properties-file";
    chosen.prefix = read_prefix(reader);
    chosen.client_rack = read_rack(reader);
    read_schema_ids_file(reader, chosen);

    const auto before = reader.problems().size();
    chosen.properties_file = reader.readable_file(
        properties_name, "",
        "More of librdkafka's properties, such as TLS and SASL; read again when it changes, or a "
        "certificate or key that it names");
    if (!chosen.properties_file.empty() && !has_problem(reader, before))
        read_file(reader, properties_name,
                  [&chosen] { chosen.properties = read_properties(chosen.properties_file); });

    const bool are_properties_read = !has_problem(reader, before);
    chosen.password = read_secret_file(
        reader, "kafka-sasl-password-file",
        "The password of SASL PLAIN or SCRAM (sasl.password), one line; read again when it "
        "changes; needs sasl.username in kafka-properties-file",
        chosen.password_file);
    chosen.client_secret = read_secret_file(
        reader, "kafka-sasl-client-secret-file",
        "The client's secret of SASL OAUTHBEARER (sasl.oauthbearer.client.secret), one line; read "
        "again when it changes; needs the client's id and the token endpoint's URL in "
        "kafka-properties-file",
        chosen.client_secret_file);
    if (!are_properties_read)
        return;
    const auto used = library_in_use();
    for (const auto& problem : login_problems(chosen, used))
        reader.add_problem(problem.setting, problem.text);
    if (const auto warning = login_warning(chosen, used))
        reader.add_warning(*warning);
}

std::map<std::string, std::string> read_properties(const std::string& file)
{
    std::map<std::string, std::string> properties;
    std::istringstream lines(runtime::read_small_file(file));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const auto text = trim(line);
        if (text.empty() || text.starts_with('#'))
            continue;
        const auto equals = text.find('=');
        // The line may hold a password, so it is not shown.
        if (equals == std::string_view::npos)
            throw std::runtime_error(file + " has no `=` in line " + std::to_string(number));
        properties.emplace(trim(text.substr(0, equals)), trim(text.substr(equals + 1)));
    }
    return properties;
}

std::vector<std::string> located_files(const std::map<std::string, std::string>& properties)
{
    std::vector<std::string> files;
    for (const auto* const name :
         {"ssl.ca.location", "ssl.certificate.location", "ssl.key.location",
          "ssl.keystore.location", "ssl.crl.location"}) {
        const auto named = properties.find(name);
        // librdkafka looks for the system's certificates itself when it is told to `probe`.
        if (named != properties.end() && !named->second.empty() && named->second != "probe")
            files.push_back(named->second);
    }
    return files;
}

} // namespace tempinbox::kafka
