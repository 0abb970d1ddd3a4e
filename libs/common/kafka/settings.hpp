#pragma once

#include "common/config/reader.hpp"

#include <map>
#include <string>

namespace tempinbox::kafka {

struct settings
{
    std::string brokers;
    std::map<std::string, std::string> properties; // librdkafka's own, such as security.protocol
};

// `kafka-brokers`, `kafka-properties-file`
settings read_settings(config::reader& reader);
// `kafka-properties-file` alone.
std::map<std::string, std::string> read_properties_setting(config::reader& reader);

} // namespace tempinbox::kafka
