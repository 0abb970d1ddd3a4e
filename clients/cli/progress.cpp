#include "cli/progress.hpp"

#include <boost/asio/steady_timer.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tempinbox::cli {
namespace {

// ECMA-48: to the line's start, and erase to its end.
constexpr const char* clear_line = "\r\x1b[K";

bool is_terminal()
{
    const char* const name = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && name && std::string_view(name) != "dumb";
}

} // namespace

struct progress::state : std::enable_shared_from_this<state>
{
    state(boost::asio::io_context& loop, std::string text,
          std::optional<std::chrono::seconds> longest)
        : timer(loop),
          label(std::move(text)),
          timeout(longest)
    {}

    void show()
    {
        const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(
            std::chrono::steady_clock::now() - started);
        auto line = clear_line + label + " " + std::to_string(elapsed.count()) + " s";
        if (timeout)
            line += " of " + std::to_string(timeout->count()) + " s";
        std::fputs(line.c_str(), stderr);
        timer.expires_after(std::chrono::seconds(1));
        timer.async_wait([self = shared_from_this()](boost::system::error_code canceled) {
            if (!canceled && !self->has_ended)
                self->show();
        });
    }

    boost::asio::steady_timer timer;
    std::string label;
    std::optional<std::chrono::seconds> timeout;
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    bool has_ended = false;
};

progress::progress(boost::asio::io_context& loop, std::string label,
                   std::optional<std::chrono::seconds> timeout)
{
    if (!is_terminal())
        return;
    state_ = std::make_shared<state>(loop, std::move(label), timeout);
    state_->show();
}

progress::~progress()
{
    if (!state_)
        return;
    hide();
    state_->has_ended = true;
    state_->timer.cancel();
}

void progress::hide()
{
    if (state_)
        std::fputs(clear_line, stderr);
}

} // namespace tempinbox::cli
