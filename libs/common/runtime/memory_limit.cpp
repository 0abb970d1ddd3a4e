#include "common/runtime/memory_limit.hpp"

#include "common/core/text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace tempinbox::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mib = 1024 * 1024;
// What an idle service uses: its code, threads, buffers of the Kafka client, metrics.
constexpr std::uint64_t own_bytes = 64 * mib;
// cgroup v1 expresses "no limit" as the largest multiple of a page.
constexpr std::uint64_t min_unlimited = std::uint64_t{1} << 60;

// "max", or a number.
std::optional<std::uint64_t> read_limit(const fs::path& file)
{
    std::ifstream in(file);
    std::string text;
    if (!(in >> text))
        return std::nullopt;
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || end != text.data() + text.size() || bytes >= min_unlimited)
        return std::nullopt;
    return bytes;
}

// The lowest limit of a group and every one above it. A container may see its own group as the top
// one, whatever its name outside.
std::optional<std::uint64_t> lowest_limit(const fs::path& top, const fs::path& group,
                                          const char* file)
{
    std::optional<std::uint64_t> lowest = read_limit(top / file);
    auto folder = top;
    for (const auto& part : group.relative_path()) {
        folder /= part;
        if (const auto limit = read_limit(folder / file))
            lowest = std::min(lowest.value_or(*limit), *limit);
    }
    return lowest;
}

std::string in_mib(std::uint64_t bytes)
{
    return std::to_string((bytes + mib - 1) / mib) + " MiB";
}

} // namespace

std::optional<std::uint64_t> container_memory_limit(const fs::path& root)
{
    // cgroups(7): `hierarchy:controllers:path`; version 2 is hierarchy 0 without controllers.
    std::ifstream groups(root / "proc/self/cgroup");
    const auto mounted = root / "sys/fs/cgroup";
    std::optional<std::uint64_t> lowest;
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first == std::string::npos ? first : first + 1);
        if (second == std::string::npos)
            continue;
        const auto controllers = split_list(line.substr(first + 1, second - first - 1));
        const fs::path group = line.substr(second + 1);
        std::optional<std::uint64_t> limit;
        if (controllers.empty())
            limit = lowest_limit(mounted, group, "memory.max");
        else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end())
            limit = lowest_limit(mounted / "memory", group, "memory.limit_in_bytes");
        if (limit)
            lowest = std::min(lowest.value_or(*limit), *limit);
    }
    return lowest;
}

std::optional<std::string> memory_warning(const std::vector<config::memory_bound>& bounds,
                                          std::optional<std::uint64_t> limit)
{
    if (!limit)
        return std::nullopt;
    std::uint64_t sum = own_bytes;
    std::string parts;
    bool is_bounded = true;
    for (const auto& bound : bounds) {
        parts += bound.what + " " + (bound.bytes ? in_mib(*bound.bytes) : "without a bound") + ", ";
        sum += bound.bytes.value_or(0);
        is_bounded = is_bounded && bound.bytes.has_value();
    }
    if (is_bounded && sum <= *limit)
        return std::nullopt;
    return "the container's memory limit of " + in_mib(*limit) +
           " is below what the settings allow this process, " + (is_bounded ? "" : "at least ") +
           in_mib(sum) + " (" + parts + "the program itself " + in_mib(own_bytes) +
           "): it may be killed under load; lower these settings or raise the limit";
}

} // namespace tempinbox::runtime
