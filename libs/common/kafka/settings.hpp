#pragma once

#include "common/config/reader.hpp"
#include "common/core/secret.hpp"

#include <map>
#include <string>
#include <vector>

namespace tempinbox::kafka {

struct settings
{
    std::string brokers;
    // librdkafka's own, such as security.protocol; as the file has them.
    std::map<std::string, std::string> properties;
    std::string prefix; // of the installation's names (names.hpp)
    std::string client_rack;
    secret password;      // of SASL; empty: as the properties say
    secret client_secret; // of OAUTHBEARER; the same
    // Where properties and secrets come from. All are read again when they change
    // (client_reloader.hpp).
    std::string properties_file;
    std::string password_file;
    std::string client_secret_file;
    // The schemas that a registry has (schema_ids.hpp); empty: events carry no schema id.
    std::string schema_ids_file;
};

// `kafka-brokers`, and those of `read_client_settings`.
settings read_settings(config::reader& reader);
// `kafka-prefix`, `kafka-client-rack`, `kafka-properties-file`, `kafka-sasl-password-file`,
// `kafka-sasl-client-secret-file`, `kafka-schema-ids-file`. A login that cannot work with the
// librdkafka of this process is a problem (login.hpp).
void read_client_settings(config::reader& reader, settings& chosen);

// `name = value` lines, as librdkafka's documentation spells them. Throws std::runtime_error that
// names the file, never a value, if it cannot be read or has other lines.
std::map<std::string, std::string> read_properties(const std::string& file);

// The certificates and keys that properties name.
std::vector<std::string> located_files(const std::map<std::string, std::string>& properties);

} // namespace tempinbox::kafka
