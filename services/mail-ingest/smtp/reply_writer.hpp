#pragma once

#include "mail-ingest/envelope/fault.hpp"
#include "mail-ingest/smtp/limits.hpp"

#include <string>
#include <string_view>

namespace tempinbox::smtp {

// The replies of a session that are not sent yet. A client's errors are counted here: at first they
// are replied to at once, then after a delay, then the session ends (`limits`).
class reply_writer
{
public:
    explicit reply_writer(const limits& bounds) : limits_(bounds) {}

    // A reply is without its CRLF.
    void say(std::string_view reply);
    // False if this was one error too many: the session must close, and the reply says so.
    [[nodiscard]] bool say_error(std::string_view reply);
    // The reply is said by `say_delayed`, after the time that `take_wait` returns.
    void reply_later(std::chrono::milliseconds wait, std::string reply);
    // Delays the one reply that was said since the output had `size` bytes.
    void delay_since(std::size_t size, std::chrono::milliseconds wait);

    // Says what a fault replies, if anything, after its delay.
    void play(const fault& played);

    // Returns once how long the delayed reply waits; else zero.
    std::chrono::milliseconds take_wait();
    bool has_delayed() const { return !delayed_.empty(); }
    void say_delayed();

    // The last reply that was said or is delayed.
    const std::string& last() const { return last_; }

    const std::string& output() const { return output_; }
    void clear_output() { output_.clear(); }

private:
    const limits& limits_;
    std::string output_;
    std::string last_;
    std::chrono::milliseconds wait_{0};
    std::string delayed_;
    int errors_ = 0;
};

} // namespace tempinbox::smtp
