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

// What the owner of a dialogue is to do next.
struct action
{
    enum class kind {
        read,      // send the output, then hand over what the client says
        look_up,   // `pending_recipient()`, then on_recipient_result
        begin,     // a message starts; what was kept of another is dropped
        append,    // `bytes` belong to it; they are gone after the next call
        drop,      // it will not be taken
        finish,    // it is complete: store it for `transaction()`, then on_message_result
        start_tls, // send the output, shake hands, then tls_started
        delay,     // send the output, wait
        close      // send the output, end
    };

    kind what = kind::read;
    std::string_view bytes;
    std::chrono::milliseconds wait{0};
};

// How a message ended, for logs and metrics.
struct ending
{
    std::string_view result;
    int code = 0;
};

// One SMTP session as the server sees it (RFC 5321), without sockets, clocks or threads: bytes and
// answers go in, actions and replies come out. Never throws for what a client says, and holds no
// more of it than a command line and what was received at once.
class session_machine
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct client
    {
        bool is_exempt = false; // from the number of messages and the length of the session
        bool can_start_tls = false;
    };

    session_machine(const limits& bounds, client who, time_point now);

    // Once, first. What was received before is held against the client.
    void greet();
    // Instead of the greeting: the reply and the end.
    void turn_away(std::string_view reply);
    // The bytes must live until `next` asks for more or for something that takes time.
    void receive(std::string_view bytes, time_point now);
    void on_recipient_result(const recipient_result& result);
    void on_message_result(const message_result& result, time_point now);
    void tls_started(std::string protocol, time_point now);
    // `deadline` has passed: often, but not always, the end.
    void expire(time_point now);
    // The service ends: so does this session, after the message it is in.
    void shut_down() { is_shutting_down_ = true; }

    action next();

    // No memory for another message just now.
    void set_overloaded(bool is_so) { is_overloaded_ = is_so; }
    // How large a message there is room for just now.
    void set_available_bytes(std::uint64_t bytes) { available_bytes_ = bytes; }
    // No message can be stored just now.
    void set_unavailable(bool is_so) { is_unavailable_ = is_so; }
    // There was no room for all of the message under way: its end is answered so, and no more of it
    // is handed over.
    void lose_message() { is_lost_ = true; }
    // The client's address sent more messages than it may just now.
    void set_over_rate(bool is_so) { is_over_rate_ = is_so; }
    // Many sessions are open: idle ones end earlier.
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
    // The last command was answered and nothing came after it.
    bool is_waiting_for_command() const { return state_ == state::command; }
    // The client said something after the last 250 for a message: it has it.
    bool is_acknowledged() const { return is_acknowledged_; }
    // The client, which was told all, ended the connection in order: that confirms where QUIT had
    // come before the 250.
    void ended_in_order() { is_acknowledged_ = is_acknowledged_ || has_quit_; }
    // Once for each message whose end was seen.
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

    // dialogue.cpp: input and time
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

    // dialogue_commands.cpp
    std::optional<action> handle_line(std::string_view line);
    std::optional<action> handle(const command& given);
    std::optional<action> handle_hello(const command& given);
    void handle_mail(std::string_view arguments);
    std::optional<action> handle_rcpt(std::string_view arguments);
    std::optional<action> handle_starttls(std::string_view arguments);
    void accept(const recipient_result& result);
    std::uint64_t allowed_by(const recipient_result& result) const;

    // dialogue_message.cpp
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
