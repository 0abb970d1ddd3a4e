#include "mail-ingest/smtp/session_machine.hpp"

#include "mail-ingest/smtp/replies.hpp"

namespace tempinbox::smtp {
namespace {

constexpr char tls_handshake_record = 0x16; // RFC 8446 5.1
constexpr auto never = session_machine::time_point::max();

bool has_control_character(std::string_view line)
{
    return std::any_of(line.begin(), line.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    });
}

} // namespace

session_machine::session_machine(const limits& bounds, client who, time_point now)
    : limits_(bounds),
      client_(who),
      now_(now),
      started_(now),
      active_(now),
      window_start_(now)
{}

void session_machine::greet()
{
    // RFC 5321 4.3.1: the client must wait for the greeting.
    if (!input_.empty()) {
        const bool is_other_protocol =
            input_.front() == tls_handshake_record ||
            parse_command(input_.substr(0, input_.find('\r'))).verb == verb::http;
        close(is_other_protocol ? replies::not_smtp : replies::out_of_turn);
        return;
    }
    say("220 " + limits_.hostname + " ESMTP");
    state_ = state::command;
}

void session_machine::turn_away(std::string_view reply)
{
    close(reply);
}

void session_machine::receive(std::string_view bytes, time_point now)
{
    now_ = active_ = now;
    has_input_since_reply_ = has_input_since_reply_ || !bytes.empty();
    if (input_.empty()) {
        if (held_input_.capacity() > limits_.command_line)
            held_input_ = {};
        input_ = bytes;
        return;
    }
    hold_input();
    held_input_.append(bytes);
    input_ = held_input_;
}

void session_machine::tls_started(std::string protocol, time_point now)
{
    now_ = active_ = now;
    is_tls_ = true;
    // RFC 3207 4.2: what was learned before the handshake is discarded.
    has_said_hello_ = false;
    input_ = {};
    transaction_ = {};
    transaction_.tls = std::move(protocol);
    state_ = state::command;
}

action session_machine::next()
{
    for (;;) {
        if (wait_.count() > 0) {
            auto delay = suspend(action::kind::delay);
            delay.wait = std::exchange(wait_, {});
            return delay;
        }
        if (!delayed_reply_.empty())
            say(std::exchange(delayed_reply_, {}));

        switch (state_) {
        case state::fresh:
            return suspend(action::kind::read);
        case state::closed:
            return suspend(action::kind::close);
        case state::looking_up:
            return suspend(action::kind::look_up);
        case state::handshake:
            return suspend(action::kind::start_tls);
        case state::storing:
            return suspend(action::kind::finish);
        case state::data:
        case state::chunk:
            if (input_.empty() && !scanner_.is_complete() &&
                (state_ == state::data || chunk_left_ > 0))
                return suspend(action::kind::read);
            if (auto next_action = state_ == state::data ? take_data() : take_chunk())
                return *next_action;
            break;
        case state::unwanted_chunk:
            if (input_.empty() && chunk_left_ > 0)
                return suspend(action::kind::read);
            skip_chunk();
            break;
        case state::command: {
            if (is_shutting_down_ && !is_bdat_) {
                close(replies::shutting_down);
                break;
            }
            const auto line = take_line();
            if (!line)
                return suspend(action::kind::read);
            // A command sent before the 250 does not acknowledge it (RFC 2920 allows pipelining).
            is_acknowledged_ = is_acknowledged_ || has_input_since_reply_;
            if (auto next_action = handle_line(*line))
                return *next_action;
            break;
        }
        }
    }
}

// Returns a command line without its CRLF. Input without an end of line stays; an overlong line is
// dropped up to its end.
std::optional<std::string_view> session_machine::take_line()
{
    while (state_ == state::command && !input_.empty()) {
        if (!has_said_hello_ && !is_tls_ && !is_dropping_line_ &&
            input_.front() == tls_handshake_record) {
            close(replies::not_smtp);
            return std::string_view{};
        }
        const auto end = input_.find('\n');
        const bool is_too_long = std::min(end, input_.size()) > limits_.command_line;
        if (end == std::string_view::npos) {
            if (is_too_long || is_dropping_line_) {
                is_dropping_line_ = true;
                input_ = {};
            }
            return std::nullopt;
        }
        auto line = input_.substr(0, end);
        input_.remove_prefix(end + 1);
        const bool was_cut = std::exchange(is_dropping_line_, false);
        if (is_too_long || was_cut) {
            say_error(replies::line_too_long);
            return std::string_view{};
        }
        const bool ends_well = !line.empty() && line.back() == '\r';
        if (ends_well)
            line.remove_suffix(1);
        // RFC 5321 2.3.8: only CRLF ends a line.
        if ((!ends_well && !limits_.takes_bare_newlines) || has_control_character(line)) {
            if (parse_command(line).verb == verb::http)
                close(replies::not_smtp);
            else
                say_error(replies::bad_line);
            return std::string_view{};
        }
        if (line.empty()) {
            say_error(replies::unknown_command);
            return line;
        }
        return line;
    }
    return std::nullopt;
}

void session_machine::hold_input()
{
    if (!input_.empty() && (held_input_.empty() || input_.data() < held_input_.data() ||
                            input_.data() >= held_input_.data() + held_input_.size())) {
        held_input_.assign(input_);
    } else {
        held_input_.erase(0, input_.empty()
                                 ? held_input_.size()
                                 : static_cast<std::size_t>(input_.data() - held_input_.data()));
    }
    input_ = held_input_;
}

// Copies unread input: the caller's buffer may hold another session's bytes when this one resumes.
action session_machine::suspend(action::kind what)
{
    if (!input_.empty())
        hold_input();
    action next_action;
    next_action.what = what;
    return next_action;
}

void session_machine::reset()
{
    auto helo = std::move(transaction_.helo);
    auto tls = std::move(transaction_.tls);
    transaction_ = {};
    transaction_.helo = std::move(helo);
    transaction_.tls = std::move(tls);
    has_transaction_ = false;
    has_refused_recipient_ = false;
    is_bdat_ = false;
    oversize_since_.reset();
}

session_machine::time_point session_machine::deadline() const
{
    switch (state_) {
    case state::data:
    case state::chunk:
    case state::unwanted_chunk:
        return std::min(message_deadline(), window_deadline());
    case state::fresh:
    case state::command:
        // A client cannot hold a message forever by sending commands between chunks.
        return is_bdat_ ? std::min({idle_deadline(), message_deadline(), window_deadline()})
                        : idle_deadline();
    default:
        return never;
    }
}

// For a session that waits for a command.
session_machine::time_point session_machine::idle_deadline() const
{
    const auto idle = is_busy_ ? limits_.idle_when_busy : limits_.idle;
    const auto idle_end = idle.count() > 0 ? active_ + idle : never;
    return is_bdat_ ? idle_end : std::min(idle_end, session_deadline(started_));
}

// Counted from the message's beginning, so a message that began in time may end after the session's
// limit. The rest of an oversize message has less time.
session_machine::time_point session_machine::message_deadline() const
{
    const auto end = session_deadline(message_start_);
    return oversize_since_ ? std::min(end, *oversize_since_ + limits_.oversize_timeout) : end;
}

session_machine::time_point session_machine::session_deadline(time_point start) const
{
    const bool has_end = limits_.session.count() > 0 && !client_.is_exempt;
    return has_end ? start + limits_.session : never;
}

// When the pace of a message is checked next.
session_machine::time_point session_machine::window_deadline() const
{
    return limits_.rate_window.count() > 0 ? window_start_ + limits_.rate_window : never;
}

bool session_machine::is_oversize_timed_out(time_point now) const
{
    return oversize_since_ && now >= *oversize_since_ + limits_.oversize_timeout;
}

void session_machine::expire(time_point now)
{
    now_ = now;
    if (now < deadline() || !has_timed_out(now))
        return;
    // If the time for an oversize message's rest is over, the reply still names its size.
    const bool is_too_large = is_oversize_timed_out(now);
    if (is_too_large)
        ending_ = ending{"too_large", 552};
    else if (is_in_message())
        ending_ = ending{"timed_out", 421};
    close(is_too_large ? replies::too_large : replies::timed_out);
}

bool session_machine::has_timed_out(time_point now)
{
    const bool waits_for_command = state_ == state::fresh || state_ == state::command;
    const bool is_over = waits_for_command && now >= idle_deadline();
    const bool is_message_over = (!waits_for_command || is_bdat_) && now >= message_deadline();
    if (is_over || is_message_over)
        return true;
    const auto seconds = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(now - window_start_).count());
    // Even without a minimum rate a byte must arrive in each window.
    const bool is_slow =
        window_bytes_ < std::max<std::uint64_t>(1, seconds * limits_.min_bytes_per_second);
    window_start_ = now;
    window_bytes_ = 0;
    return is_slow;
}

void session_machine::say(std::string_view reply)
{
    output_.append(reply);
    output_.append("\r\n");
}

// A client's errors: at first replied to at once, then delayed, then the session is closed.
void session_machine::say_error(std::string_view reply)
{
    ++errors_;
    if (limits_.errors_before_close > 0 && errors_ >= limits_.errors_before_close)
        close(replies::too_many_errors);
    else if (limits_.errors_before_delay > 0 && errors_ >= limits_.errors_before_delay)
        reply_later(limits_.error_delay, std::string(reply));
    else
        say(reply);
}

void session_machine::reply_later(std::chrono::milliseconds wait, std::string reply)
{
    wait_ = wait;
    delayed_reply_ = std::move(reply);
}

void session_machine::close(std::string_view reply)
{
    say(reply);
    state_ = state::closed;
}

std::optional<ending> session_machine::take_ending()
{
    return std::exchange(ending_, std::nullopt);
}

} // namespace tempinbox::smtp
