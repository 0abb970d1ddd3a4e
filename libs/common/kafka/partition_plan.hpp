#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tempinbox::kafka {

struct partition_name
{
    std::string topic;
    std::int32_t number = 0;
    friend auto operator<=>(const partition_name&, const partition_name&) = default;
};

// Which partitions a broadcast reader reads, from where, and how far it must read to be current.
// The partitions found at a topic's first scan are read from their end (or beginning, as chosen);
// those found later from their beginning, since all their records are new.
class partition_plan
{
public:
    struct position
    {
        std::int64_t next = 0;
        std::int64_t target = 0;
    };

    explicit partition_plan(bool from_beginning) : from_beginning_(from_beginning) {}

    bool has(const partition_name& name) const { return positions_.contains(name); }
    void add(const partition_name& name, std::int64_t low, std::int64_t high);
    // All partitions that the topic had at its first scan have been added.
    void mark_known(const std::string& topic) { known_topics_.insert(topic); }
    bool knows_all(const std::vector<std::string>& topics) const;

    void set_next(const partition_name& name, std::int64_t next) { positions_[name].next = next; }
    void set_target(const partition_name& name, std::int64_t target)
    {
        positions_[name].target = target;
    }
    bool has_reached_targets() const;

    std::size_t size() const { return positions_.size(); }
    const std::map<partition_name, position>& positions() const { return positions_; }

private:
    bool from_beginning_;
    std::map<partition_name, position> positions_;
    std::set<std::string> known_topics_;
};

} // namespace tempinbox::kafka
