#include "common/kafka/consumer_lag.hpp"

#include <algorithm>
#include <charconv>

namespace tempinbox::kafka {
namespace {

using namespace std::chrono_literals;

constexpr auto stale_after = 5s;
// The first records of a partition arrive well within this time; until then an old commit does not
// make its newest record old.
constexpr std::int64_t first_read_millis = 5'000;

} // namespace

std::string consumer_lag::to_metadata(std::int64_t newest_millis)
{
    return std::to_string(newest_millis);
}

std::optional<std::int64_t> consumer_lag::from_metadata(const std::string& metadata)
{
    std::int64_t value = 0;
    const auto* const end = metadata.data() + metadata.size();
    const auto [stop, error] = std::from_chars(metadata.data(), end, value);
    if (error != std::errc() || stop != end || value <= 0)
        return std::nullopt;
    return value;
}

void consumer_lag::assign(const partition_name& name, const std::optional<position>& committed,
                          std::int64_t now_millis)
{
    progress fresh;
    fresh.assigned_millis = now_millis;
    if (committed) {
        fresh.next_offset = committed->next_offset;
        fresh.next_read = committed->next_offset;
        fresh.newest_millis = committed->newest_millis;
    }
    partitions_[name] = fresh;
}

std::vector<partition_name> consumer_lag::names() const
{
    std::vector<partition_name> all;
    all.reserve(partitions_.size());
    for (const auto& [name, of] : partitions_)
        all.push_back(name);
    return all;
}

void consumer_lag::note_read(const record& one, steady::time_point now)
{
    const auto found = partitions_.find({one.topic, one.partition});
    if (found == partitions_.end())
        return;
    auto& of = found->second;
    // Compaction leaves gaps too: the partition's beginning tells whether records were lost.
    if (of.next_read && one.offset > *of.next_read && !of.skipped_from) {
        of.skipped_from = of.next_read;
        of.skipped_to = one.offset;
    }
    of.next_read = one.offset + 1;
    if (!of.next_offset)
        of.next_offset = one.offset;
    of.was_read = true;
    of.updated_at = now;
}

void consumer_lag::note_handled(const record& one)
{
    const auto found = partitions_.find({one.topic, one.partition});
    if (found == partitions_.end())
        return;
    auto& of = found->second;
    of.next_offset = one.offset + 1;
    of.newest_millis = std::max(of.newest_millis.value_or(0), one.timestamp_millis);
}

std::int64_t consumer_lag::note_beginning(const partition_name& name, std::int64_t low)
{
    const auto found = partitions_.find(name);
    if (found == partitions_.end())
        return 0;
    auto& of = found->second;
    of.is_beginning_known = true;
    std::int64_t lost = 0;
    if (of.skipped_from)
        lost = std::max<std::int64_t>(std::min(low, of.skipped_to) - *of.skipped_from, 0);
    else if (!of.was_read && of.next_read && low > *of.next_read)
        lost = low - *of.next_read;
    of.skipped_from.reset();
    if (!of.was_read) {
        of.next_read = std::max(of.next_read.value_or(low), low);
        of.next_offset = of.next_read;
    }
    return lost;
}

void consumer_lag::note_end(const partition_name& name, std::int64_t high, std::int64_t now_millis,
                            steady::time_point now, bool is_queried)
{
    const auto found = partitions_.find(name);
    if (found == partitions_.end() || high < 0)
        return;
    auto& of = found->second;
    of.end = std::max(of.end.value_or(0), high);
    if (is_queried)
        of.updated_at = now;
    if (left(of) == 0)
        of.at_end_millis = now_millis;
}

std::vector<partition_name> consumer_lag::without_beginning() const
{
    std::vector<partition_name> names;
    for (const auto& [name, of] : partitions_)
        if (!of.is_beginning_known || of.skipped_from)
            names.push_back(name);
    return names;
}

std::vector<partition_name> consumer_lag::with_stale_end(steady::time_point now) const
{
    std::vector<partition_name> names;
    for (const auto& [name, of] : partitions_)
        if (!of.end || now - of.updated_at >= stale_after)
            names.push_back(name);
    return names;
}

std::optional<std::int64_t> consumer_lag::left(const progress& of)
{
    if (!of.next_offset || !of.end)
        return std::nullopt;
    return std::max<std::int64_t>(*of.end - *of.next_offset, 0);
}

std::optional<std::int64_t> consumer_lag::records(const partition_name& name) const
{
    const auto found = partitions_.find(name);
    return found == partitions_.end() ? std::nullopt : left(found->second);
}

std::optional<std::int64_t> consumer_lag::newest_millis(const partition_name& name) const
{
    const auto found = partitions_.find(name);
    return found == partitions_.end() ? std::nullopt : found->second.newest_millis;
}

std::int64_t consumer_lag::oldest_age_millis(const std::vector<const std::vector<record>*>& waiting,
                                             std::int64_t now_millis) const
{
    std::map<partition_name, std::int64_t> first_waiting;
    std::int64_t oldest = now_millis;
    for (const auto* const batch : waiting)
        for (const auto& one : *batch) {
            const partition_name name{one.topic, one.partition};
            const auto found = partitions_.find(name);
            if (found == partitions_.end() || one.offset < found->second.next_offset.value_or(0))
                continue;
            const auto [known, is_new] = first_waiting.try_emplace(name, one.timestamp_millis);
            known->second = std::min(known->second, one.timestamp_millis);
            oldest = std::min(oldest, one.timestamp_millis);
        }
    for (const auto& [name, of] : partitions_) {
        if (first_waiting.contains(name) || left(of).value_or(0) == 0)
            continue;
        auto younger_than = std::max(of.newest_millis.value_or(0), of.at_end_millis);
        const bool is_just_assigned =
            !of.was_read && now_millis - of.assigned_millis < first_read_millis;
        if (younger_than == 0 || is_just_assigned)
            younger_than = std::max(younger_than, of.assigned_millis);
        oldest = std::min(oldest, younger_than);
    }
    return std::max<std::int64_t>(now_millis - oldest, 0);
}

} // namespace tempinbox::kafka
