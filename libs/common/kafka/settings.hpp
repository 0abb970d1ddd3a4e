#pragma once

#include "common/config/reader.hpp"

#include <string>

namespace tempinbox::kafka {

struct settings
{
    std::string brokers;
};

// `kafka-brokers`
settings read_settings(config::reader& reader);

} // namespace tempinbox::kafka
