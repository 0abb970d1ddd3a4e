#include "common/metrics/process_metrics.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tempinbox::metrics {
namespace {

// The fields of /proc/self/stat that are used, by their number in proc(5).
struct process_stat
{
    double cpu_seconds = 0;
    double threads = 0;
    double start_seconds_after_boot = 0;
    double virtual_bytes = 0;
    double resident_bytes = 0;
};

bool read_stat(process_stat& stat)
{
    std::ifstream file("/proc/self/stat");
    std::string text;
    if (!std::getline(file, text))
        return false;
    // The name in parentheses may hold anything; the third field follows the last parenthesis.
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    std::string field;
    for (int position = 3; position <= 24 && fields >> field; ++position) {
        if (position == 14 || position == 15)
            stat.cpu_seconds += std::stod(field) / ticks;
        else if (position == 20)
            stat.threads = std::stod(field);
        else if (position == 22)
            stat.start_seconds_after_boot = std::stod(field) / ticks;
        else if (position == 23)
            stat.virtual_bytes = std::stod(field);
        else if (position == 24)
            stat.resident_bytes = std::stod(field) * page;
    }
    return true;
}

double boot_time()
{
    std::ifstream file("/proc/stat");
    std::string word;
    while (file >> word) {
        if (word == "btime") {
            double seconds = 0;
            file >> seconds;
            return seconds;
        }
    }
    return 0;
}

std::string metric(std::string_view name, std::string_view kind, std::string_view help,
                   double value)
{
    return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, kind, value);
}

} // namespace

std::string process_metrics_text()
{
    process_stat stat;
    if (!read_stat(stat))
        return {};
    std::error_code ignored;
    const std::filesystem::directory_iterator descriptors("/proc/self/fd", ignored);
    const auto open_descriptors = std::distance(begin(descriptors), end(descriptors));
    rlimit max_descriptors{};
    getrlimit(RLIMIT_NOFILE, &max_descriptors);

    return metric("process_cpu_seconds_total", "counter", "User and system CPU time",
                  stat.cpu_seconds) +
           metric("process_resident_memory_bytes", "gauge", "Resident memory",
                  stat.resident_bytes) +
           metric("process_virtual_memory_bytes", "gauge", "Virtual memory", stat.virtual_bytes) +
           metric("process_threads", "gauge", "Threads", stat.threads) +
           metric("process_open_fds", "gauge", "Open file descriptors",
                  static_cast<double>(open_descriptors)) +
           metric("process_max_fds", "gauge", "Limit of open file descriptors",
                  static_cast<double>(max_descriptors.rlim_cur)) +
           metric("process_start_time_seconds", "gauge", "Start of the process, Unix time",
                  boot_time() + stat.start_seconds_after_boot);
}

} // namespace tempinbox::metrics
