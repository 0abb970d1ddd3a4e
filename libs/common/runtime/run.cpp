#include "common/runtime/run.hpp"

#include "common/core/exception_text.hpp"
#include "common/core/version.hpp"
#include "common/log/log.hpp"
#include "common/runtime/loop_lag.hpp"
#include "common/runtime/memory_limit.hpp"
#include "common/runtime/stop_signals.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

extern "C" {
// jemalloc reads this when the process starts (jemalloc(3), TUNING). A service is one loop and a
// few threads: one arena and small caches are enough for them, and what a rush needed goes back to
// the system with the work that follows it.
const char* malloc_conf = "narenas:1,dirty_decay_ms:1000,tcache_max:4096";
}

namespace tempinbox::runtime {
namespace {

enum exit_code : int { clean = 0, failed = 1, bad_settings = 2 };

// Name, attributes and their allocations; an estimate.
constexpr std::uint64_t span_bytes = 1'024;

process_settings read_process_settings(config::reader& reader,
                                       std::chrono::milliseconds drain_timeout)
{
    process_settings chosen;
    chosen.log_level = reader.choice("log-level", "info", {"debug", "info", "warning", "error"},
                                     "Lines below this level are not written");
    chosen.audit_log = reader.choice(
        "audit-log", "sampled", {"all", "sampled", "none"},
        "Lines about what was accepted, refused or changed (`email stored`, `key created`): all, "
        "at most 20 a second of each message, or none");
    chosen.access_log =
        reader.choice("access-log", "none", {"all", "sampled", "none"},
                      "A line for each HTTP request or internal call served: all, at most 20 a "
                      "second, or none");
    chosen.admin_listen =
        reader.address("admin-listen", "127.0.0.1:9090",
                       "Where /livez, /readyz and /metrics are served; 0.0.0.0 in a container");
    chosen.admin_token_file =
        reader.readable_file("admin-token-file", "",
                             "Token for POST /log-level on admin-listen, one or two lines; empty: "
                             "only callers on loopback may use it");
    chosen.drain_timeout = reader.duration(
        "drain-timeout", drain_timeout, std::chrono::milliseconds(0), std::chrono::hours(1),
        "How long a stop may take; then the process ends with exit code 1");
    chosen.trace = trace::read_settings(reader);
    if (!chosen.trace.endpoint.empty())
        reader.add_memory("spans that wait for export", trace::tracer::max_queued * span_bytes);
    return chosen;
}

// systemd and shells set a soft limit of 1,024 for the sake of select(), which nothing here uses; a
// process may raise it to the hard limit.
void raise_descriptor_limit()
{
    rlimit descriptors{};
    if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
        return;
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
}

// One service from start to exit; everything runs on the loop.
class lifetime
{
public:
    lifetime(host& host, const service_factory& make)
        : host_(host),
          make_(make),
          deadline_(host.loop())
    {}

    exit_code run()
    {
        try {
            host_.health().expect("listeners");
            service_ = make_(host_);
            stop_signals signals(host_.loop(), [this] { begin_drain(); });
            boost::asio::co_spawn(host_.loop(), watch_loop_lag(host_), boost::asio::detached);
            boost::asio::post(host_.loop(), [this] { start(); });
            host_.loop().run();
        } catch (...) {
            log::error("failed", {{"reason", text_of(std::current_exception())}});
            return failed;
        }
        return outcome_;
    }

private:
    void start()
    {
        service_->start();
        host_.files().start();
        host_.health().met("listeners");
        log::info("started");
    }

    void begin_drain()
    {
        log::info("draining");
        host_.health().start_draining();
        deadline_.expires_after(host_.settings().drain_timeout);
        deadline_.async_wait([this](const boost::system::error_code& error) {
            if (error)
                return;
            log::error("not drained in time",
                       {{"drain_timeout_ms", host_.settings().drain_timeout.count()}});
            end(failed);
        });
        boost::asio::co_spawn(
            host_.loop(), service_->drain(), [this](const std::exception_ptr& error) {
                if (error)
                    log::error("failed while draining", {{"reason", text_of(error)}});
                end(error ? failed : clean);
            });
    }

    void end(exit_code outcome)
    {
        outcome_ = outcome;
        host_.loop().stop();
    }

    host& host_;
    const service_factory& make_;
    boost::asio::steady_timer deadline_;
    std::unique_ptr<service> service_;
    exit_code outcome_ = failed;
};

[[noreturn]] void leave(exit_code outcome)
{
    log::info("stopped", {{"exit_code", static_cast<int>(outcome)}});
    log::finish();
    // Exits without destructors: after the drain nothing is left to do, yet suspended coroutines
    // may still refer to parts that would be destroyed before them.
    std::fflush(nullptr);
    std::_Exit(outcome);
}

// In Kubernetes the pod's name, which its other logs and metrics have, too.
std::string log_instance(const host& here)
{
    const char* const pod = std::getenv("POD_NAME");
    return pod != nullptr && *pod != '\0' ? pod : here.instance();
}

void start_log(std::string_view name, const host& here)
{
    const auto& chosen = here.settings();
    log::start(name, version(), log_instance(here), *log::parse_level(chosen.log_level));
    log::set_volume(log::line_class::audit, *log::parse_volume(chosen.audit_log));
    log::set_volume(log::line_class::access, *log::parse_volume(chosen.access_log));
}

void print_problems(std::string_view name, const std::vector<std::string>& problems)
{
    std::string text =
        "tempinbox-" + std::string(name) + ": " +
        (problems.size() == 1 ? "one problem" : std::to_string(problems.size()) + " problems") +
        " with the settings\n";
    for (const auto& problem : problems)
        text += "  " + problem + "\n";
    std::fputs(text.c_str(), stderr);
}

} // namespace

int run_service(std::string_view name, std::string_view purpose, int argc, char** argv,
                const settings_reader& read, std::chrono::milliseconds drain_timeout)
{
    const auto program = "tempinbox-" + std::string(name);
    config::reader declaring;
    read_process_settings(declaring, drain_timeout);
    read(declaring);

    auto line = config::read_command_line(argc, argv, declaring.declared());
    if (line.requested == config::command_line::action::show_help) {
        std::fputs(config::help_text(program, purpose, declaring.declared()).c_str(), stdout);
        return clean;
    }
    if (line.requested == config::command_line::action::show_version) {
        std::fputs((program + " " + std::string(version()) + "\n").c_str(), stdout);
        return clean;
    }

    if (line.requested == config::command_line::action::print_settings) {
        std::fputs(config::settings_json(program, purpose, declaring.declared()).c_str(), stdout);
        return clean;
    }

    config::reader reader(std::move(line.values));
    const auto process = read_process_settings(reader, drain_timeout);
    const auto make = read(reader);
    auto problems = std::move(line.problems);
    problems.insert(problems.end(), reader.problems().begin(), reader.problems().end());
    if (!problems.empty()) {
        print_problems(name, problems);
        return bad_settings;
    }
    if (line.requested == config::command_line::action::check_config) {
        std::puts("settings are good");
        for (const auto& warning : reader.warnings())
            std::printf("  but %s\n", warning.c_str());
        return clean;
    }

    raise_descriptor_limit();
    // The host outlives every thread that may post to its loop: the process ends in `leave`.
    auto& here = *new host(std::string(name), process);
    start_log(name, here);
    log::info("settings", {{"settings", reader.effective()}});
    if (!line.unknown_variables.empty())
        log::warning("environment variables ignored: they are not settings of this program",
                     {{"variables", config::list_unknown_variables(line.unknown_variables)}});
    for (const auto& warning : reader.warnings())
        log::warning(warning);
    if (const auto problem = memory_warning(reader.memory_bounds(), container_memory_limit()))
        log::warning(*problem);
    leave(lifetime(here, make).run());
}

} // namespace tempinbox::runtime
