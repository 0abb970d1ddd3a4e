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

// How far a member of a group is behind in each partition it was given: records, and the age of the
// oldest one that is not handled. Is told what was assigned, read and handled and where partitions
// begin and end; asks nobody. Times of records are Unix milliseconds.
class consumer_lag
{
public:
    using steady = std::chrono::steady_clock;

    // What the group's last commit says of a partition.
    struct position
    {
        std::int64_t next_offset = 0;
        std::optional<std::int64_t> newest_millis; // of the last record handled
    };

    // The metadata of a commit, which carries the time of the newest record handled to the
    // partition's next owner.
    static std::string to_metadata(std::int64_t newest_millis);
    static std::optional<std::int64_t> from_metadata(const std::string& metadata);

    // Without a position the group never committed here: it reads from the partition's beginning.
    void assign(const partition_name& name, const std::optional<position>& committed,
                std::int64_t now_millis);
    void clear() { partitions_.clear(); }
    std::vector<partition_name> names() const;

    void note_read(const record& one, steady::time_point now);
    void note_handled(const record& one);
    // Where a partition begins. Returns how many records the group was to read and retention took
    // first.
    std::int64_t note_beginning(const partition_name& name, std::int64_t low);
    // Where it ends. `is_queried`: the broker was asked now; else what it last said.
    void note_end(const partition_name& name, std::int64_t high, std::int64_t now_millis,
                  steady::time_point now, bool is_queried);

    // Partitions whose beginning is worth a question: just assigned, or records were passed over.
    std::vector<partition_name> without_beginning() const;
    // Those of which nothing came for a while, so that what is known of their end may be old.
    std::vector<partition_name> with_stale_end(steady::time_point now) const;

    // Empty until both the position and the end are known.
    std::optional<std::int64_t> records(const partition_name& name) const;
    // Of what was read and waits to be handled the time is known; of the rest it is younger than
    // the newest record handled, and than the last moment at which nothing was left.
    std::int64_t oldest_age_millis(const std::vector<const std::vector<record>*>& waiting,
                                   std::int64_t now_millis) const;

    std::optional<std::int64_t> newest_millis(const partition_name& name) const;

private:
    struct progress
    {
        std::optional<std::int64_t> next_offset; // to be handled
        std::optional<std::int64_t> next_read;
        std::optional<std::int64_t> newest_millis;
        std::optional<std::int64_t> end;
        std::optional<std::int64_t> skipped_from; // from here to `skipped_to` nothing was read
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
