#pragma once

#include "mail-ingest/smtp/command.hpp"
#include "mail-ingest/smtp/data_scanner.hpp"
#include "mail-ingest/smtp/envelope.hpp"
#include "mail-ingest/smtp/limits.hpp"
#include "mail-ingest/smtp/path.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// What the owner of a session machine must do next.
struct action
{
    enum class kind {
        read,      // send the output, then pass what the client sends to `receive`
        look_up,   // look `pending_recipient()` up, then call on_recipient_result
        begin,     // open a message; discard what an earlier one left
        append,    // append `bytes` to it; they are valid until the next call
        drop,      // discard it: it will be refused
        finish,    // it is complete: store it for `transaction()`, then call on_message_result
        start_tls, // send the output, do the handshake, then call tls_started
        delay,     // send the output, then wait
        close      // send the output, then close the connection
    };

    kind what = kind::read;
    std::string_view bytes;
    std::chrono::milliseconds wait{0};
};

// How a message ended, for metrics.
struct ending
{
    std::string_view result;
    int code = 0;
};

// One SMTP session as the server sees it (RFC 5321), without sockets, clocks or threads: bytes and
// results go in, actions and replies come out. Never throws for what a client sends. Holds no more
// of it than a command line and what one read received.
class session_machine
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct client
    {
        bool is_exempt = false; // from MAILMAX and from the limit of the session's length
        bool can_start_tls = false;
    };

    session_machine(const limits& bounds, client who, time_point now);

    // Call this once, first. A client that sent anything before the greeting is refused.
    void greet();
    // Instead of greet: sends the reply and closes.
    void turn_away(std::string_view reply);
    // The bytes must stay valid until `next` returns an action that waits.
    void receive(std::string_view bytes, time_point now);
    void on_recipient_result(const recipient_result& result);
    void on_message_result(const message_result& result, time_point now);
    void tls_started(std::string protocol, time_point now);
    // `deadline` has passed; the session may still go on, after a check of the message's pace.
    void expire(time_point now);
    // Drain: ends this session after the message it is in.
    void shut_down() { is_shutting_down_ = true; }

    action next();

    // There is no memory for another message at present.
    void set_overloaded(bool is_so) { is_overloaded_ = is_so; }
    // The largest message there is room for at present.
    void set_available_bytes(std::uint64_t bytes) { available_bytes_ = bytes; }
    // No message can be stored at present.
    void set_unavailable(bool is_so) { is_unavailable_ = is_so; }
    // There was no room for all of the message under way: it gets 452 at its end, and no more of it
    // is appended.
    void lose_message() { is_lost_ = true; }
    // The client's address sent more messages than its rate allows at present.
    void set_over_rate(bool is_so) { is_over_rate_ = is_so; }
    // Many connections are in use: idle sessions time out earlier.
    void set_busy(bool is_so) { is_busy_ = is_so; }

    const std::string& output() const { return output_; }
    void clear_output() { output_.clear(); }

    const smtp_path& pending_recipient() const { return pending_recipient_; }
    const smtp::envelope& transaction() const { return transaction_; }
    time_point deadline() const;
    bool is_in_message() const
    {
        return state_ == state::data || is_bdat_ || state_ == state::storing;
    }
    // The last command was replied to, and no command is under way.
    bool is_waiting_for_command() const { return state_ == state::command; }
    // The client sent something after it got the last message's 250, so it has seen it.
    bool is_acknowledged() const { return is_acknowledged_; }
    // The client got all output and closed the connection in order. If QUIT was pipelined ahead of
    // the 250, this acknowledges the 250.
    void ended_in_order() { is_acknowledged_ = is_acknowledged_ || has_quit_; }
    // Returns each message's end once.
    std::optional<ending> take_ending();

private:
    enum class state {
        fresh,
        command,
        looking_up,
        data,
        chunk,
        unwanted_chunk,
        storing,
        handshake,
        closed
    };

    // session_machine.cpp: input and time
    std::optional<std::string_view> take_line();
    void hold_input();
    action suspend(action::kind what);
    void reset();
    bool has_timed_out(time_point now);
    time_point idle_deadline() const;
    time_point message_deadline() const;
    time_point session_deadline(time_point start) const;
    time_point window_deadline() const;
    bool is_oversize_timed_out(time_point now) const;

    // replies
    void say(std::string_view reply);
    void say_error(std::string_view reply);
    void reply_later(std::chrono::milliseconds wait, std::string reply);
    void close(std::string_view reply);

    // session_machine_commands.cpp
    std::optional<action> handle_line(std::string_view line);
    std::optional<action> handle(const command& given);
    std::optional<action> handle_hello(const command& given);
    void handle_mail(std::string_view arguments);
    std::optional<action> handle_rcpt(std::string_view arguments);
    std::optional<action> handle_starttls(std::string_view arguments);
    void accept(const recipient_result& result);
    std::uint64_t allowed_by(const recipient_result& result) const;

    // session_machine_message.cpp
    std::optional<action> handle_data(std::string_view arguments);
    std::optional<action> handle_bdat(std::string_view arguments);
    std::optional<action> refuse_chunk(std::string_view reply);
    bool lacks_space(std::optional<std::uint64_t> size) const;
    void begin_message();
    std::optional<action> take_data();
    std::optional<action> take_chunk();
    void skip_chunk();
    std::optional<action> keep(std::string_view bytes, std::size_t used);
    std::optional<action> end_message();
    void end_transaction(std::string_view result, std::string_view reply);

    const limits& limits_;
    client client_;
    state state_ = state::fresh;
    bool is_shutting_down_ = false;
    bool is_overloaded_ = false;
    bool is_unavailable_ = false;
    std::uint64_t available_bytes_ = std::numeric_limits<std::uint64_t>::max();
    bool is_over_rate_ = false;
    bool is_busy_ = false;

    std::string_view input_;
    std::string held_input_;
    bool is_dropping_line_ = false;
    std::string output_;
    std::chrono::milliseconds wait_{0};
    std::string delayed_reply_;

    time_point now_;
    time_point started_;
    time_point active_;
    int errors_ = 0;
    int unknown_ = 0;
    int refused_ = 0;
    int messages_ = 0;

    bool has_said_hello_ = false;
    bool is_tls_ = false;
    bool has_transaction_ = false;
    bool has_refused_recipient_ = false;
    smtp::envelope transaction_;
    smtp_path pending_recipient_;

    data_scanner scanner_;
    newline_policy newlines_;
    std::string scratch_;
    bool is_bdat_ = false;
    smtp::chunk chunk_;
    std::uint64_t chunk_left_ = 0;
    std::string_view refusal_; // of the chunk being skipped
    std::uint64_t allowed_ = 0;
    std::uint64_t message_size_ = 0;
    std::uint64_t window_bytes_ = 0;
    time_point message_start_;
    time_point window_start_;
    std::optional<time_point> oversize_since_;
    bool is_lost_ = false;
    std::optional<ending> ending_;
    bool is_acknowledged_ = true;
    bool has_input_since_reply_ = true;
    bool has_quit_ = false;
};

} // namespace tempinbox::smtp
