#include "common/kafka/names.hpp"

namespace tempinbox::kafka {

std::string prefixed(const settings& cluster, std::string_view name)
{
    std::string full = cluster.prefix;
    full += name;
    return full;
}

std::string without_prefix(const settings& cluster, std::string_view name_in_kafka)
{
    if (name_in_kafka.starts_with(cluster.prefix))
        name_in_kafka.remove_prefix(cluster.prefix.size());
    return std::string(name_in_kafka);
}

std::string client_id(const settings& cluster, std::string_view program)
{
    const auto chosen = cluster.properties.find("client.id");
    if (chosen != cluster.properties.end())
        return chosen->second;
    return prefixed(cluster, "tempinbox-" + std::string(program));
}

} // namespace tempinbox::kafka
