#include "common/log/log.hpp"

#include "common/log/dedup_filter.hpp"
#include "common/log/line.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace tempinbox::log {
namespace {

constexpr std::size_t max_queued = 8'192;
constexpr std::uint32_t repeats_per_second = 20;

// A process has one log; everything in it is thread-safe.
struct process_log
{
    std::atomic<level> min_level = level::info;
    dedup_filter seen{repeats_per_second};
    std::atomic<std::uint64_t> repeats_dropped = 0;
    std::string origin;                     // set before threads exist
    std::shared_ptr<spdlog::logger> writer; // absent before `start` and after `finish`
    std::mutex writer_mutex;
};

// Never destroyed: threads may log while static objects are destroyed.
process_log& the_log()
{
    static auto* const log = new process_log;
    return *log;
}

} // namespace

void start(std::string_view service, std::string_view version, std::string_view instance,
           level min_level)
{
    auto& log = the_log();
    log.origin = origin_members(service, version, instance);
    set_level(min_level);
    spdlog::init_thread_pool(max_queued, 1);
    auto writer = spdlog::create_async_nb<spdlog::sinks::stdout_sink_mt>("tempinbox");
    writer->set_pattern("%v");
    writer->set_level(spdlog::level::trace);
    writer->flush_on(spdlog::level::trace);
    // Losing standard output is nothing to log about.
    writer->set_error_handler([](const std::string&) {});
    const std::lock_guard lock(log.writer_mutex);
    log.writer = std::move(writer);
}

void set_level(level min_level)
{
    the_log().min_level.store(min_level, std::memory_order_relaxed);
}

std::optional<level> parse_level(std::string_view name)
{
    if (name == "debug")
        return level::debug;
    if (name == "info")
        return level::info;
    if (name == "warning")
        return level::warning;
    if (name == "error")
        return level::error;
    return std::nullopt;
}

void finish()
{
    auto& log = the_log();
    {
        const std::lock_guard lock(log.writer_mutex);
        log.writer.reset();
    }
    spdlog::shutdown();
}

void write(level severity, std::string_view message, std::initializer_list<field> fields)
{
    auto& log = the_log();
    if (severity < log.min_level.load(std::memory_order_relaxed))
        return;
    const auto suppressed = log.seen.pass(message, std::chrono::steady_clock::now());
    if (!suppressed) {
        log.repeats_dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const auto line = format_line(system_clock_source().now(), severity, message, log.origin,
                                  *suppressed, fields);
    std::shared_ptr<spdlog::logger> writer;
    {
        const std::lock_guard lock(log.writer_mutex);
        writer = log.writer;
    }
    if (writer) {
        writer->log(spdlog::level::info, spdlog::string_view_t(line));
    } else {
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
    }
}

std::uint64_t dropped_lines()
{
    const auto queue = spdlog::thread_pool();
    return the_log().repeats_dropped.load(std::memory_order_relaxed) +
           (queue ? queue->overrun_counter() : 0);
}

} // namespace tempinbox::log
