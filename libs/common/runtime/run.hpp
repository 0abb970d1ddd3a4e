#pragma once

#include "common/config/reader.hpp"
#include "common/runtime/host.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace tempinbox::runtime {

// Creates a service once its settings are known to be valid.
using service_factory = std::function<std::unique_ptr<service>(host&)>;
// Declares and reads the service's settings, then returns how to create it.
using settings_reader = std::function<service_factory(config::reader&)>;

// The life of a service: settings (--help, --version, --print-settings, --check-config, all errors
// at once), logging, start, SIGTERM or SIGINT, drain, exit. Exit code: 0 clean, 1 failed while
// running or not drained in time, 2 bad settings. A second signal exits at once with 1. SIGPIPE is
// ignored. `drain_timeout` is the setting's default.
int run_service(std::string_view name, std::string_view purpose, int argc, char** argv,
                const settings_reader& read,
                std::chrono::milliseconds drain_timeout = process_settings{}.drain_timeout);

template <class Settings, class Make>
int run(std::string_view name, std::string_view purpose, int argc, char** argv,
        Settings (*read)(config::reader&), Make make,
        std::chrono::milliseconds drain_timeout = process_settings{}.drain_timeout)
{
    const auto reader = [read, make](config::reader& given) -> service_factory {
        return [settings = read(given), make](host& host) -> std::unique_ptr<service> {
            return make(host, settings);
        };
    };
    return run_service(name, purpose, argc, argv, reader, drain_timeout);
}

} // namespace tempinbox::runtime
