#pragma once

#include "common/core/errors.hpp"
#include "common/core/ids.hpp"
#include "common/runtime/host.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::kafka {

// The header by which deserializers of Confluent's kind find the schema of a value in a registry.
// The value itself stays as it is.
inline constexpr const char* schema_id_header = "__value_schema_id";

// The schema of a topic's values as a registry knows it.
struct published_schema
{
    std::string topic; // without the installation's prefix
    std::string subject;
    uuid guid;
    int message_index = 0; // the message's, among those of its file
};

// Confluent's framing: 0x01, the 16 bytes of the GUID, then which message of the file it is.
std::string schema_id_of(const published_schema& schema);

// A file that `tempinboxctl schemas publish` writes, and back: `{"schemas":[{"topic","subject",
// "guid","messageIndex"}]}`.
std::string to_json(const std::vector<published_schema>& schemas);
result<std::vector<published_schema>> parse_published_schemas(std::string_view text);
// Throws std::runtime_error that names the file and what is wrong.
std::vector<published_schema> read_published_schemas(const std::string& file);

// The header's value for each topic, by a file that is read again when it changes; none without a
// file. `find` is thread-safe; the rest is called on the loop.
class schema_ids
{
public:
    schema_ids(runtime::host& host, const std::string& file);
    schema_ids(const schema_ids&) = delete;

    std::optional<std::string> find(const std::string& topic) const;
    void stop();

private:
    void read_again(const std::string& file);

    mutable std::mutex mutex_;
    std::map<std::string, std::string> values_; // by topic
    runtime::file_watch::subscription watch_;
};

} // namespace tempinbox::kafka
