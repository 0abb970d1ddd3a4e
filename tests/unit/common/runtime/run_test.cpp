// A service from start to exit, each in its own process.
#include "common/runtime/run.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

struct settings
{
    std::string mode;
    std::int64_t writers = 0;
};

settings read_settings(config::reader& reader)
{
    settings chosen;
    chosen.mode = reader.text("mode", "good", "How the service behaves");
    chosen.writers = reader.integer("writers", 2, 1, 64, "Writers");
    if (chosen.mode == "risky")
        reader.add_warning("risky loses mail");
    return chosen;
}

class trial_service final : public runtime::service
{
public:
    trial_service(runtime::host& host, settings chosen) : host_(host), settings_(std::move(chosen))
    {
        if (settings_.mode == "broken")
            throw std::runtime_error("the port is taken");
    }

    void start() override
    {
        if (settings_.mode == "unstartable")
            throw std::runtime_error("cannot listen");
    }

    awaitable<void> drain() override
    {
        if (settings_.mode == "undrainable")
            throw std::runtime_error("cannot drain");
        boost::asio::steady_timer timer(host_.loop());
        timer.expires_after(settings_.mode == "stuck" ? std::chrono::milliseconds(1h) : 1ms);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }

private:
    runtime::host& host_;
    settings settings_;
};

// Runs the service in a child process and records what it prints and how it ends.
class trial
{
public:
    explicit trial(std::vector<std::string> flags)
    {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        // The child would write again what this process has not flushed yet.
        std::cout.flush();
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(ends[1], STDOUT_FILENO);
            ::dup2(ends[1], STDERR_FILENO);
            ::close(ends[0]);
            std::_Exit(run(std::move(flags)));
        }
        ::close(ends[1]);
        output_end_ = ends[0];
    }

    ~trial()
    {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        ::close(output_end_);
    }
    trial(const trial&) = delete;

    bool prints(const std::string& text)
    {
        while (output.find(text) == std::string::npos && read_some()) {
        }
        return output.find(text) != std::string::npos;
    }

    void signal(int number) const { ::kill(process_, number); }

    int exit_code()
    {
        while (read_some()) {
        }
        int status = 0;
        ::waitpid(std::exchange(process_, 0), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::string output;

private:
    static int run(std::vector<std::string> flags)
    {
        flags.insert(flags.begin(), "tempinbox-trial");
        std::vector<char*> words;
        for (auto& flag : flags)
            words.push_back(flag.data());
        const int code = runtime::run(
            "trial", "tries things", static_cast<int>(words.size()), words.data(), &read_settings,
            [](runtime::host& host, const settings& chosen) -> std::unique_ptr<runtime::service> {
                return std::make_unique<trial_service>(host, chosen);
            });
        std::fflush(nullptr);
        return code;
    }

    bool read_some()
    {
        constexpr int timeout_millis = 10'000;
        pollfd end{output_end_, POLLIN, 0};
        char buffer[4096];
        if (::poll(&end, 1, timeout_millis) <= 0)
            return false;
        const auto size = ::read(output_end_, buffer, sizeof buffer);
        if (size > 0)
            output.append(buffer, static_cast<std::size_t>(size));
        return size > 0;
    }

    pid_t process_ = 0;
    int output_end_ = -1;
};

std::size_t occurrences(const std::string& text, const std::string& part)
{
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

} // namespace

TEST_CASE("a service starts, drains on SIGTERM or SIGINT and exits 0", "[runtime]")
{
    const int number = GENERATE(SIGTERM, SIGINT);
    trial service({});
    REQUIRE(service.prints("\"msg\":\"started\""));

    service.signal(number);

    CHECK(service.exit_code() == 0);
    CHECK(service.output.find("\"msg\":\"draining\"") != std::string::npos);
    CHECK(service.output.find("\"msg\":\"stopped\"") != std::string::npos);
    CHECK_THAT(service.output, Catch::Contains("\"settings\":\"log-level=info "));
    CHECK_THAT(service.output, Catch::Contains(" admin-listen=127.0.0.1:9090 admin-token-file= "
                                               "drain-timeout=25s "));
    CHECK_THAT(service.output, Catch::Contains(" mode=good writers=2\""));
}

TEST_CASE("what works at a risk is said at the start and by a check of the settings", "[runtime]")
{
    trial checked({"--mode=risky", "--check-config"});
    CHECK(checked.exit_code() == 0);
    CHECK_THAT(checked.output, Catch::Contains("settings are good\n  but risky loses mail"));

    trial service({"--mode=risky"});
    REQUIRE(service.prints("\"msg\":\"started\""));
    CHECK_THAT(service.output, Catch::Contains("\"msg\":\"risky loses mail\""));
    service.signal(SIGTERM);
    CHECK(service.exit_code() == 0);
}

TEST_CASE("a drain that does not end in time exits 1", "[runtime]")
{
    trial service({"--mode=stuck", "--drain-timeout=100ms"});
    REQUIRE(service.prints("\"msg\":\"started\""));

    service.signal(SIGTERM);

    CHECK(service.exit_code() == 1);
    CHECK(service.output.find("not drained in time") != std::string::npos);
}

TEST_CASE("a second signal exits 1 at once", "[runtime]")
{
    trial service({"--mode=stuck"});
    REQUIRE(service.prints("\"msg\":\"started\""));
    service.signal(SIGTERM);
    REQUIRE(service.prints("\"msg\":\"draining\""));

    service.signal(SIGTERM);

    CHECK(service.exit_code() == 1);
}

TEST_CASE("SIGHUP and SIGPIPE change nothing", "[runtime]")
{
    trial service({});
    REQUIRE(service.prints("\"msg\":\"started\""));

    service.signal(SIGHUP);
    service.signal(SIGPIPE);
    service.signal(SIGTERM);

    CHECK(service.exit_code() == 0);
}

TEST_CASE("what fails is logged once and exits 1", "[runtime]")
{
    const auto [mode, reason] = GENERATE(table<std::string, std::string>(
        {{"broken", "the port is taken"}, {"unstartable", "cannot listen"}}));
    trial service({"--mode=" + mode});

    CHECK(service.exit_code() == 1);
    CHECK(occurrences(service.output, reason) == 1);
}

TEST_CASE("a drain that fails exits 1", "[runtime]")
{
    trial service({"--mode=undrainable"});
    REQUIRE(service.prints("\"msg\":\"started\""));

    service.signal(SIGTERM);

    CHECK(service.exit_code() == 1);
    CHECK(occurrences(service.output, "cannot drain") == 1);
}

TEST_CASE("bad settings are all listed and exit 2, with --check-config too", "[runtime]")
{
    const auto flag = GENERATE(std::string("--log-level=info"), std::string("--check-config"));
    trial service({"--writers=many", "--admin-listen=nowhere", "--wrong", flag});

    CHECK(service.exit_code() == 2);
    CHECK(service.output.find("tempinbox-trial: 3 problems with the settings\n") == 0);
    CHECK(service.output.find(
              "--writers (TEMPINBOX_WRITERS) must be an integer from 1 to 64, not \"many\"") !=
          std::string::npos);
    CHECK(service.output.find("--admin-listen") != std::string::npos);
    CHECK(service.output.find("--wrong is not a setting") != std::string::npos);
}

TEST_CASE("--check-config says that settings are good", "[runtime]")
{
    trial service({"--check-config"});
    CHECK(service.exit_code() == 0);
    CHECK(service.output == "settings are good\n");
}

TEST_CASE("--print-settings prints what a service takes, whatever is wrong with its settings",
          "[runtime]")
{
    trial service({"--print-settings", "--writers=none"});
    CHECK(service.exit_code() == 0);
    CHECK(service.output.starts_with(
        R"({"program":"tempinbox-trial","purpose":"tries things","settings":[)"));
    CHECK(service.output.find(R"("name":"admin-token-file")") != std::string::npos);
}

TEST_CASE("variables that are no settings are warned of at start, in one line", "[runtime]")
{
    ::setenv("TEMPINBOX_WRITER", "3", 1);
    ::setenv("TEMPINBOX_WRITES", "3", 1);
    trial service({"--admin-listen=127.0.0.1:0"});
    ::unsetenv("TEMPINBOX_WRITER");
    ::unsetenv("TEMPINBOX_WRITES");

    CHECK(service.prints("\"started\""));
    CHECK(service.output.find("TEMPINBOX_WRITER (did you mean TEMPINBOX_WRITERS?), "
                              "TEMPINBOX_WRITES (did you mean TEMPINBOX_WRITERS?)") !=
          std::string::npos);
    CHECK(occurrences(service.output, "environment variables ignored") == 1);
    service.signal(SIGTERM);
    CHECK(service.exit_code() == 0);
}

TEST_CASE("--help and --version answer and end", "[runtime]")
{
    trial help({"--help"});
    CHECK(help.exit_code() == 0);
    CHECK(help.output.find("tempinbox-trial: tries things") == 0);
    CHECK(help.output.find("--writers=2") != std::string::npos);
    CHECK(help.output.find("--admin-listen=127.0.0.1:9090") != std::string::npos);

    trial version({"--version"});
    CHECK(version.exit_code() == 0);
    CHECK(version.output.starts_with("tempinbox-trial "));
}
