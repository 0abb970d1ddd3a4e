#include "mail-ingest/smtp/reply_writer.hpp"

#include "mail-ingest/smtp/replies.hpp"

#include <utility>

namespace tempinbox::smtp {

void reply_writer::say(std::string_view reply)
{
    last_ = reply;
    output_.append(reply);
    output_.append("\r\n");
}

bool reply_writer::say_error(std::string_view reply)
{
    ++errors_;
    if (limits_.errors_before_close > 0 && errors_ >= limits_.errors_before_close) {
        say(replies::too_many_errors);
        return false;
    }
    if (limits_.errors_before_delay > 0 && errors_ >= limits_.errors_before_delay)
        reply_later(limits_.error_delay, std::string(reply));
    else
        say(reply);
    return true;
}

void reply_writer::reply_later(std::chrono::milliseconds wait, std::string reply)
{
    wait_ = wait;
    last_ = reply;
    delayed_ = std::move(reply);
}

void reply_writer::delay_since(std::size_t size, std::chrono::milliseconds wait)
{
    constexpr std::size_t crlf = 2;
    reply_later(wait, output_.substr(size, output_.size() - size - crlf));
    output_.resize(size);
}

void reply_writer::play(const fault& played)
{
    if (played.delay.count() > 0)
        reply_later(played.delay, played.reply);
    else if (!played.reply.empty())
        say(played.reply);
}

std::chrono::milliseconds reply_writer::take_wait()
{
    return std::exchange(wait_, {});
}

void reply_writer::say_delayed()
{
    if (!delayed_.empty())
        say(std::exchange(delayed_, {}));
}

} // namespace tempinbox::smtp
