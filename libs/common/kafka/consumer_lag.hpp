#pragma once

#include "common/kafka/message.hpp"
#include "common/kafka/partition_plan.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::kafka {

// How far a group member is behind in each of its partitions: the number of records, and the age of
// the oldest one not yet handled. The consumer reports what was assigned, read and handled and
// where partitions begin and end; this class queries nothing. Record times are Unix milliseconds.
class consumer_lag
{
public:
    using steady = std::chrono::steady_clock;

    // What the group last committed for a partition.
    struct position
    {
        std::int64_t next_offset = 0;
        std::optional<std::int64_t> newest_millis; // of the last record handled
    };

    // The metadata of a commit: it carries the time of the newest handled record to the partition's
    // next owner.
    static std::string to_metadata(std::int64_t newest_millis);
    static std::optional<std::int64_t> from_metadata(const std::string& metadata);

    // Without a position the group never committed here and reads from the partition's beginning.
    void assign(const partition_name& name, const std::optional<position>& committed,
                std::int64_t now_millis);
    void clear() { partitions_.clear(); }
    std::vector<partition_name> names() const;

    void note_read(const record& one, steady::time_point now);
    void note_handled(const record& one);
    // Notes where a partition begins. Returns how many records retention deleted before the group
    // read them.
    std::int64_t note_beginning(const partition_name& name, std::int64_t low);
    // Notes where it ends. `is_queried`: the broker was asked just now; else it is what the broker
    // last reported.
    void note_end(const partition_name& name, std::int64_t high, std::int64_t now_millis,
                  steady::time_point now, bool is_queried);

    // Partitions whose beginning should be queried: just assigned, or some records were skipped.
    std::vector<partition_name> without_beginning() const;
    // Partitions from which nothing came for a while, so that their known end may be old.
    std::vector<partition_name> with_stale_end(steady::time_point now) const;

    // Empty until both the position and the end are known.
    std::optional<std::int64_t> records(const partition_name& name) const;
    // The time of a record that waits to be handled is known. Any other is younger than the newest
    // handled record, and than the last moment at which nothing was left.
    std::int64_t oldest_age_millis(const std::vector<const std::vector<record>*>& waiting,
                                   std::int64_t now_millis) const;

    std::optional<std::int64_t> newest_millis(const partition_name& name) const;

private:
    struct progress
    {
        std::optional<std::int64_t> next_offset; // of the next record to handle
        std::optional<std::int64_t> next_read;
        std::optional<std::int64_t> newest_millis;
        std::optional<std::int64_t> end;
        std::optional<std::int64_t> skipped_from; // nothing was read from here to `skipped_to`
        std::int64_t skipped_to = 0;
        std::int64_t assigned_millis = 0;
        std::int64_t at_end_millis = 0; // the last moment at which nothing was left
        bool is_beginning_known = false;
        bool was_read = false;
        steady::time_point updated_at{};
    };

    static std::optional<std::int64_t> left(const progress& of);

    std::map<partition_name, progress> partitions_;
};

} // namespace tempinbox::kafka
