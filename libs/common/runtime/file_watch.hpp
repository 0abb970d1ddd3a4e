#pragma once

#include "common/async/periodic_task.hpp"
#include "common/metrics/registry.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace tempinbox::runtime {

// Reads files of secrets again when they change, so that they can be replaced without a restart:
// passwords, keys, certificates. Each second it looks whether a file was written, replaced (as
// Kubernetes replaces the link of a mounted Secret) or made unreadable. Content that cannot be used
// changes nothing: the old one stays in use, with a log line and a metric, until the files change
// again. Runs on the loop; the checks are a few system calls. The host of a process has one.
class file_watch
{
    struct watched;

public:
    // Reads the files and puts their content to use. Throws std::exception when it cannot be used;
    // then nothing may have changed.
    using load = std::function<void()>;

    // Ends the watch of its files when it is destroyed: kept by what `use` refers to. An empty one
    // watches nothing.
    class subscription
    {
    public:
        subscription() = default;
        subscription(subscription&& other) noexcept;
        subscription& operator=(subscription&& other) noexcept;
        ~subscription();

        // Watches these from now on, such as those that another file names; also for `use` itself
        // to call. An empty subscription ignores it.
        void set_files(std::vector<std::string> files);

    private:
        friend class file_watch;
        subscription(file_watch& from, std::list<watched>::iterator which);

        file_watch* from_ = nullptr;
        std::list<watched>::iterator which_;
    };

    file_watch(boost::asio::any_io_executor executor, metrics::registry& metrics);
    file_watch(const file_watch&) = delete;

    // Calls `use` at once and lets its exception through: a service does not start with a bad file.
    // Later calls are after changes, from `start` on. `what` is the setting's name, for log lines
    // and metrics.
    [[nodiscard]] subscription watch(std::string_view what, std::vector<std::string> files,
                                     load use);

    // Looks now: for tests, and for callers that cannot wait for a second.
    void check();

    void start();

    // The loop that it runs on.
    boost::asio::any_io_executor executor() const { return executor_; }

private:
    struct watched
    {
        std::string what;
        std::vector<std::string> files;
        load use;
        std::string seen; // the state of the files that `use` was last called for
        prometheus::Gauge* is_current = nullptr;
        prometheus::Counter* reloads = nullptr;
    };

    static void reload(watched& changed);

    boost::asio::any_io_executor executor_;
    metrics::registry& metrics_;
    std::list<watched> watched_;
    async::periodic_task task_;
};

// All of a small file. Throws std::runtime_error that names the file if it cannot be read or has
// more than `max_bytes`.
std::string read_small_file(const std::string& file, std::size_t max_bytes = 1024 * 1024);

// The only line of a file, such as a password, without the line's end. Throws std::runtime_error
// that names the file, never its content, if it cannot be read, is empty or has more lines.
std::string read_one_line(const std::string& file);

} // namespace tempinbox::runtime
