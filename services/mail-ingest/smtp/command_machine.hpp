#pragma once

#include "mail-ingest/envelope/envelope.hpp"
#include "mail-ingest/envelope/login.hpp"
#include "mail-ingest/envelope/path.hpp"
#include "mail-ingest/smtp/auth_exchange.hpp"
#include "mail-ingest/smtp/command.hpp"
#include "mail-ingest/smtp/limits.hpp"
#include "mail-ingest/smtp/reply_writer.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tempinbox::smtp {

// What the process lacks at present.
struct server_state
{
    bool is_overloaded = false;  // no memory for another message
    bool is_unavailable = false; // no message can be stored
    bool is_over_rate = false;   // the client's address sent more messages than its rate allows
    std::uint64_t available_bytes = std::numeric_limits<std::uint64_t>::max(); // for one message

    // For a message that begins, of this size if it is known.
    bool lacks_space(std::optional<std::uint64_t> size) const
    {
        return is_overloaded || size.value_or(0) > available_bytes;
    }
};

// Where a client can log in. Where it can it must: without a login no mail is accepted.
enum class login_policy {
    none,
    after_tls,
    at_once // the connection needs no TLS
};

// What follows a command, or a piece of input. But for `read`, a command line was taken.
struct command_step
{
    enum class kind {
        read,      // there is no whole line left: read more
        replied,   // the next command may follow
        look_up,   // look pending_recipient up, then call on_recipient_result
        log_in,    // check take_credentials(), then call on_login_result
        admit,     // ask whether login() may send a message, then call on_admission_result
        data,      // DATA is in order; nothing was said
        chunk,     // the octets of `chunk` follow; nothing was said
        start_tls, // do the handshake, then call tls_started
        quit,      // close; no input is left
        close
    };

    kind what = kind::replied;
    smtp::chunk chunk;
    std::string_view refusal; // the reply after the octets of `chunk`; empty: it is in order
};

// The commands of one session (RFC 5321 4.1): reads lines, says replies, and keeps the transaction
// that the commands make. Does not read messages: data_machine and chunk_machine do.
//
//   phase            | event                                       | next
//   no_hello         | EHLO, HELO                                  | idle
//   idle             | AUTH that waits for a response              | exchange
//   exchange         | the response, whatever it is                | idle, or exchange for the next
//   idle             | MAIL; with a login once it is admitted      | envelope
//   envelope         | begin_chunks                                | chunks
//   envelope, chunks | EHLO, HELO, RSET, STARTTLS, end_transaction | idle
//   any              | tls_started                                 | no_hello
class command_machine
{
public:
    struct client
    {
        bool is_exempt = false; // from MAILMAX and from the limit of the session's length
        bool can_start_tls = false;
        login_policy logins = login_policy::none;
    };

    command_machine(const limits& bounds, client who, reply_writer& replies)
        : limits_(bounds),
          client_(who),
          replies_(replies)
    {}

    // `early` is what the client sent before the greeting: nothing, if it is in order.
    command_step greet(std::string_view early);
    // Takes a line of `input`, if there is a whole one, and does the command.
    command_step resume(std::string_view& input, const server_state& server);
    command_step on_recipient_result(const recipient_result& result);
    command_step on_login_result(login_result result);
    command_step on_admission_result(const admission_result& result);
    void tls_started(std::string protocol);

    // A message in chunks begins: up to its end MAIL, RCPT and DATA are refused.
    void begin_chunks() { phase_ = phase::chunks; }
    bool is_in_chunks() const { return phase_ == phase::chunks; }
    // Returns what there was of it.
    smtp::envelope end_transaction();

    // The client must log in, and has not.
    bool needs_login() const { return client_.logins != login_policy::none && !login_; }
    const std::optional<smtp::login>& login() const { return login_; }
    // What the last exchange of AUTH gave.
    credentials take_credentials() { return std::move(credentials_); }
    // Returns once whether AUTH came with credentials over a connection that needs TLS first.
    bool take_login_in_clear() { return std::exchange(has_login_in_clear_, false); }

    const smtp_path& pending_recipient() const { return pending_recipient_; }
    const smtp::envelope& envelope() const { return envelope_; }
    const std::string& pending_mail_from() const { return pending_sender_.path; }
    bool has_pending_size() const { return pending_sender_.size.has_value(); }
    int transaction_number() const { return messages_; }
    bool has_transaction() const { return phase_ == phase::envelope || phase_ == phase::chunks; }
    // Returns once the reply by which a MAIL with a login was refused before it could be admitted;
    // empty: none was.
    std::string_view take_refused_mail() { return std::exchange(refused_mail_, {}); }
    // The largest message that all recipients take.
    std::uint64_t allowed_bytes() const { return allowed_bytes_; }

private:
    enum class phase { no_hello, idle, exchange, envelope, chunks };

    command_step take_line(std::string_view line, std::string_view& rest,
                           const server_state& server);
    command_step handle(const command& received, std::string_view& rest,
                        const server_state& server);
    command_step handle_hello(const command& received, std::string_view rest);
    command_step handle_auth(std::string_view arguments, std::string_view rest);
    command_step take_response(std::string_view line, std::string_view rest);
    command_step on_exchange(auth_exchange::status status);
    void end_exchange();
    command_step handle_mail(std::string_view arguments, const server_state& server);
    command_step refuse_mail(std::string_view reply);
    command_step begin_transaction();
    command_step handle_rcpt(std::string_view arguments);
    command_step handle_data(std::string_view arguments, std::string_view rest);
    command_step handle_bdat(std::string_view arguments);
    command_step handle_starttls(std::string_view arguments, std::string_view& rest);
    command_step handle_rset(std::string_view arguments);
    // The reply to a command that TLS or a login must precede; empty: nothing must.
    std::string_view missing_login() const;
    command_step refuse_chunk(const smtp::chunk& chunk, std::string_view refusal);
    command_step say_result(const recipient_result& result);
    command_step play(const fault& played);
    void delay_reply(std::size_t output_before, const std::optional<fault>& played);
    std::string_view accept(const recipient_result& result);
    bool has_tls() const { return envelope_.tls.has_value(); }

    command_step say(std::string_view reply);
    command_step say_error(std::string_view reply);
    command_step close(std::string_view reply);

    const limits& limits_;
    client client_;
    reply_writer& replies_;
    phase phase_ = phase::no_hello;
    bool is_dropping_line_ = false; // up to the end of an overlong line

    std::optional<auth_exchange> exchange_; // in the phase of that name
    smtp::credentials credentials_;
    std::optional<smtp::login> login_;
    bool has_login_in_clear_ = false;
    int failed_logins_ = 0;

    // Of MAIL, until it is accepted.
    struct pending_sender
    {
        std::string path;
        std::optional<std::uint64_t> size;
        bool has_utf8 = false;
    };
    pending_sender pending_sender_;
    std::string_view refused_mail_;

    smtp::envelope envelope_;
    smtp_path pending_recipient_;
    std::uint64_t allowed_bytes_ = 0;
    bool has_refused_recipient_ = false;

    int unknown_ = 0;
    int refused_ = 0;
    int messages_ = 0;
};

} // namespace tempinbox::smtp
