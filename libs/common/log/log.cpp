#include "common/log/log.hpp"

#include "common/log/dedup_filter.hpp"
#include "common/log/line.hpp"
#include "common/trace/current.hpp"

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
    std::atomic<volume> audit = volume::sampled;
    std::atomic<volume> access = volume::none;
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

std::atomic<volume>& volume_of(line_class which)
{
    return which == line_class::audit ? the_log().audit : the_log().access;
}

void append_trace(std::string& origin)
{
    const auto& here = trace::current();
    if (!here)
        return;
    // Before `start` there is no origin.
    origin += origin.empty() ? "" : ",";
    origin += "\"trace_id\":\"" + here->span.trace_id() + "\",\"span_id\":\"" +
              here->span.span_id() + '"';
}

void write_line(level severity, std::string_view message, std::uint64_t suppressed,
                std::initializer_list<field> fields)
{
    auto& log = the_log();
    auto origin = log.origin;
    append_trace(origin);
    const auto line =
        format_line(system_clock_source().now(), severity, message, origin, suppressed, fields);
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

void set_volume(line_class which, volume chosen)
{
    volume_of(which).store(chosen, std::memory_order_relaxed);
}

bool writes(line_class which)
{
    return volume_of(which).load(std::memory_order_relaxed) != volume::none;
}

std::optional<volume> parse_volume(std::string_view name)
{
    if (name == "none")
        return volume::none;
    if (name == "sampled")
        return volume::sampled;
    if (name == "all")
        return volume::all;
    return std::nullopt;
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
    if (const auto suppressed = log.seen.pass(message, std::chrono::steady_clock::now()))
        write_line(severity, message, *suppressed, fields);
    else
        log.repeats_dropped.fetch_add(1, std::memory_order_relaxed);
}

void write(line_class which, std::string_view message, std::initializer_list<field> fields)
{
    const auto chosen = volume_of(which).load(std::memory_order_relaxed);
    if (chosen == volume::sampled)
        write(level::info, message, fields);
    else if (chosen == volume::all &&
             the_log().min_level.load(std::memory_order_relaxed) <= level::info)
        write_line(level::info, message, 0, fields);
}

std::uint64_t dropped_lines()
{
    const auto queue = spdlog::thread_pool();
    return the_log().repeats_dropped.load(std::memory_order_relaxed) +
           (queue ? queue->overrun_counter() : 0);
}

} // namespace tempinbox::log
