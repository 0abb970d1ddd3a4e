#pragma once

#include "mail-ingest/smtp/chunk_machine.hpp"
#include "mail-ingest/smtp/command_machine.hpp"
#include "mail-ingest/smtp/data_machine.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tempinbox::smtp {

// What the owner of a session machine must do next.
struct action
{
    enum class kind {
        read,       // send the output, then pass what the client sends to `receive`
        look_up,    // look `pending_recipient()` up, then call on_recipient_result
        log_in,     // check `take_credentials()`, then call on_login_result
        meet_fault, // ask what fault the recipients' inboxes play at DATA or the first BDAT, then
                    // call on_fault_result
        admit,      // ask whether `login()` may send a message, then call on_admission_result
        begin,      // open a message; discard what an earlier one left
        append,     // append `bytes` to it; they are valid until the next call
        drop,       // discard it: it will be refused
        finish,     // it is complete: store it for `transaction()`, then call on_message_result
        start_tls,  // send the output, do the handshake, then call tls_started
        delay,      // send the output, then wait
        close       // send the output, then close the connection
    };

    kind what = kind::read;
    std::string_view bytes;
    std::chrono::milliseconds wait{0};
};

// How a message ended, for metrics and for the inboxes that it was refused for.
struct ending
{
    std::string_view result;
    int code = 0;
    std::string reply;
    smtp::envelope envelope;
    bool is_stored = false;
    faults::stage at = faults::stage::end;
    bool is_chunked = false; // it came by BDAT
};

// One SMTP session as the server sees it (RFC 5321), without sockets, clocks or threads: bytes and
// results go in, actions and replies come out. Never throws for what a client sends. Holds no more
// of it than a command line and what one read received. It gives the input to the machine whose
// turn it is, and keeps the time:
//
//   phase     | event                                           | next
//   greeting  | greet                                           | command
//   command   | RCPT                                            | look_up
//   command   | DATA, BDAT, STARTTLS                            | data, chunk, handshake
//   look_up   | on_recipient_result                             | command
//   command   | DATA, BDAT for inboxes that may play a fault    | fault
//   fault     | on_fault_result                                 | beginning
//   beginning | the fault's delay is over                       | data, chunk, command
//   data      | the final dot                                   | storing
//   data      | the final dot of a message that is refused      | command
//   chunk     | the end of the last chunk                       | storing
//   chunk     | the end of another chunk, or of a refused one   | command
//   storing   | on_message_result                               | command
//   handshake | tls_started                                     | command
//   any       | QUIT, time-out, too many errors, and so on      | closed
class session_machine
{
public:
    using time_point = std::chrono::steady_clock::time_point;
    using client = command_machine::client;

    session_machine(const limits& bounds, client who, time_point now);
    session_machine(const session_machine&) = delete;

    // Call this once, first. A client that sent anything before the greeting is refused.
    void greet();
    // Instead of greet: sends the reply and closes.
    void turn_away(std::string_view reply) { close(reply); }
    // The bytes must stay valid until `next` returns an action that waits.
    void receive(std::string_view bytes, time_point now);
    void on_recipient_result(const recipient_result& result);
    void on_login_result(login_result result, time_point now);
    void on_admission_result(const admission_result& result);
    void on_fault_result(std::optional<fault> played);
    void on_message_result(const message_result& result, time_point now);
    // The wait of `delay` is over.
    void on_delay_end(time_point now) { now_ = active_ = now; }
    void tls_started(std::string protocol, time_point now);
    // `deadline` has passed; the session may still go on, after a check of the message's pace.
    void expire(time_point now);
    // Drain: ends this session after the message it is in.
    void shut_down() { is_shutting_down_ = true; }

    action next();

    // There is no memory for another message at present.
    void set_overloaded(bool is_so) { server_.is_overloaded = is_so; }
    // The largest message there is room for at present.
    void set_available_bytes(std::uint64_t bytes) { server_.available_bytes = bytes; }
    // No message can be stored at present.
    void set_unavailable(bool is_so) { server_.is_unavailable = is_so; }
    // There was no room for all of the message under way: it gets 452 at its end, and no more of it
    // is appended.
    void lose_message() { message_.lose(); }
    // The client's address sent more messages than its rate allows at present.
    void set_over_rate(bool is_so) { server_.is_over_rate = is_so; }
    // Many connections are in use: idle sessions time out earlier.
    void set_busy(bool is_so) { is_busy_ = is_so; }

    const std::string& output() const { return replies_.output(); }
    void clear_output() { replies_.clear_output(); }

    // The last reply, also while it is delayed.
    const std::string& last_reply() const { return replies_.last(); }
    // While it does, what it sent was either handled or copied whenever `next` returns: the buffer
    // it came in can be overwritten.
    bool needs_login() const { return commands_.needs_login(); }
    const std::optional<smtp::login>& login() const { return commands_.login(); }
    credentials take_credentials() { return commands_.take_credentials(); }
    // Returns once whether the client sent credentials in the clear where it must not.
    bool take_login_in_clear() { return commands_.take_login_in_clear(); }
    const smtp_path& pending_recipient() const { return commands_.pending_recipient(); }
    const smtp::envelope& transaction() const { return commands_.envelope(); }
    // Of the MAIL that is admitted.
    const std::string& pending_mail_from() const { return commands_.pending_mail_from(); }
    // How many MAILs were accepted.
    int transaction_number() const { return commands_.transaction_number(); }
    bool has_transaction() const { return commands_.has_transaction(); }
    bool has_pending_size() const { return commands_.has_pending_size(); }
    std::string_view take_refused_mail() { return commands_.take_refused_mail(); }
    // Once the session is over: by QUIT, or by this side, as far as the client has not dropped it.
    bool has_quit() const { return has_quit_; }
    bool is_closed() const { return phase_ == phase::closed; }
    time_point deadline() const;
    bool is_in_message() const
    {
        return phase_ == phase::data || phase_ == phase::storing || commands_.is_in_chunks();
    }
    // The last command was replied to, and no command is under way.
    bool is_waiting_for_command() const { return phase_ == phase::command; }
    // The client sent something after it got the last message's 250, so it has seen it.
    bool is_acknowledged() const { return acknowledgment_ == acknowledgment::seen; }
    // The client got all output and closed the connection in order. If QUIT was pipelined ahead of
    // the 250, this acknowledges the 250.
    void ended_in_order();
    // Returns each message's end once.
    std::optional<ending> take_ending();

private:
    enum class phase {
        greeting,
        command,
        look_up,
        login,
        admission,
        fault,
        beginning,
        data,
        chunk,
        storing,
        handshake,
        closed
    };

    // Whether the client has seen the last message's 250.
    //
    //   phase        | event                        | next
    //   any          | a message was stored         | unseen
    //   unseen       | input                        | input_since
    //   unseen       | QUIT                         | quit_ahead
    //   input_since  | a command                    | seen
    //   quit_ahead   | ended_in_order               | seen
    enum class acknowledgment {
        seen,        // or no message was stored yet
        unseen,      // what was said since may have been sent before the 250
        input_since, // not a whole command yet
        quit_ahead
    };

    // input
    action suspend(action::kind what);
    void hold_input();
    void append_to_held_input(std::string_view bytes);
    void go_on_after(const command_step& step);

    // what the machines returned
    std::optional<action> resume();
    std::optional<action> take_command();
    std::optional<action> begin_message();
    std::optional<action> begin_data();
    std::optional<action> begin_chunk(const chunk& given, std::string_view refusal);
    std::optional<action> take_message(const message_step& step);
    std::optional<action> end_chunk();
    std::optional<action> end_message(bool has_bare_newline);
    void note_ending(std::string_view result, int code, std::string_view reply,
                     smtp::envelope ended, bool is_stored);
    void end_transaction(std::string_view result, std::string_view reply);
    void end_with(const fault& played, bool is_stored = false);
    void close(std::string_view reply);
    void close_in_message(std::string_view result, std::string_view reply);

    // time
    bool has_timed_out(time_point now);
    bool waits_for_command() const;
    time_point idle_deadline() const;
    time_point login_deadline() const;
    time_point message_deadline() const;
    time_point session_deadline(time_point start) const;

    const limits& limits_;
    client client_;
    phase phase_ = phase::greeting;
    acknowledgment acknowledgment_ = acknowledgment::seen;
    server_state server_;
    bool is_shutting_down_ = false;
    bool is_busy_ = false;

    std::string_view input_;
    std::string held_input_;

    time_point now_;
    time_point started_;
    time_point active_;

    reply_writer replies_;
    command_machine commands_;
    incoming_message message_;
    data_machine data_;
    chunk_machine chunk_;
    std::optional<ending> ending_;
    // Of the message under way: how far it came, and whether it comes by BDAT.
    faults::stage message_stage_ = faults::stage::data;
    bool is_chunked_ = false;
    bool has_quit_ = false;
    // Of the message that begins: its first chunk, and what its inboxes play. One that refuses a
    // chunk is kept until its octets are read.
    std::optional<smtp::chunk> first_chunk_;
    std::optional<smtp::fault> fault_;
};

} // namespace tempinbox::smtp
