#include "common/kafka/partition_plan.hpp"

#include <algorithm>

namespace tempinbox::kafka {

void partition_plan::add(const partition_name& name, std::int64_t low, std::int64_t high)
{
    const bool is_new_to_all = from_beginning_ || known_topics_.contains(name.topic);
    positions_[name] = {is_new_to_all ? low : high, high};
}

bool partition_plan::knows_all(const std::vector<std::string>& topics) const
{
    return std::all_of(topics.begin(), topics.end(),
                       [this](const std::string& topic) { return known_topics_.contains(topic); });
}

bool partition_plan::has_reached_targets() const
{
    return std::all_of(positions_.begin(), positions_.end(),
                       [](const auto& entry) { return entry.second.next >= entry.second.target; });
}

} // namespace tempinbox::kafka
