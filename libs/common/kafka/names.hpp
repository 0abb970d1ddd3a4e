#pragma once

#include "common/kafka/settings.hpp"

#include <string>
#include <string_view>

namespace tempinbox::kafka {

// Names in Kafka. The code names topics and groups without the installation's prefix; this library
// puts it on where names go to Kafka and takes it off where they come from there. Metrics, traces
// and log lines show the names that Kafka has.

// The name in Kafka of a topic, consumer group or client. Nothing else puts the prefix on.
std::string prefixed(const settings& cluster, std::string_view name);
// The reverse. A name without the prefix stays as it is.
std::string without_prefix(const settings& cluster, std::string_view name_in_kafka);

// `tempinbox-<program>` prefixed, or the operator's client.id.
std::string client_id(const settings& cluster, std::string_view program);

} // namespace tempinbox::kafka
