#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/clock_watch.hpp"
#include "common/tls/context_source.hpp"
#include "mail-ingest/attempts/attempt_log.hpp"
#include "mail-ingest/faults/fault_player.hpp"
#include "mail-ingest/ingest/ingest.hpp"
#include "mail-ingest/logins/logins.hpp"
#include "mail-ingest/recipients/recipients.hpp"
#include "mail-ingest/rejections/rejection_recorder.hpp"
#include "mail-ingest/smtp/client_limiter.hpp"
#include "mail-ingest/smtp/connection.hpp"
#include "mail-ingest/smtp/session_machine.hpp"
#include "mail-ingest/smtp/session_metrics.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempinbox::smtp {

// What a port speaks.
enum class port_kind {
    mail,            // takes mail for inboxes from anybody
    submission,      // takes mail from logins alone; AUTH follows STARTTLS
    submissions,     // the same under TLS from the first byte (RFC 8314)
    submission_clear // the same without TLS
};

// What the sessions of a port share; must outlive them.
struct session_context
{
    runtime::host& host;
    const smtp::limits& limits;
    mail_ingest::recipients& recipients;
    mail_ingest::ingest& ingest;
    mail_ingest::rejection_recorder& rejections;
    mail_ingest::attempt_recorder& attempts;
    mail_ingest::fault_player& faults;
    postgres::clock_watch& clock; // while it is off, MAIL gets 451: emails are found by their time
    smtp::client_limiter& client_limiter;
    const tls::context_source& starttls; // for a handshake that begins; empty: not offered
    session_metrics& metrics;
    mail_ingest::logins* logins = nullptr; // where they are needed
};

// Runs a session machine on a connection: reads, writes, looks up recipients, stores messages and
// enforces the deadlines. All on the loop. A connection error ends the session; nothing is thrown
// out of it.
class session : public std::enable_shared_from_this<session>
{
public:
    using tcp = boost::asio::ip::tcp;

    session(session_context& context, port_kind port, tcp::socket socket, client_address peer);
    ~session();
    session(const session&) = delete;

    // Runs until the connection ends.
    awaitable<void> run();

    // Called about once a second: ends a session that is past its deadline.
    void check_deadline(std::chrono::steady_clock::time_point now);
    // Drain: ends the session as soon as it has no message under way.
    void shut_down();
    // Ends the session now, even during a message.
    void abort();

private:
    awaitable<void> converse();
    awaitable<bool> receive();
    awaitable<bool> send_output();
    awaitable<bool> shake_hands();
    awaitable<void> look_up();
    awaitable<void> log_in();
    awaitable<void> admit();
    awaitable<void> meet_fault();
    awaitable<void> store();
    awaitable<void> delay(std::chrono::milliseconds time);
    awaitable<void> linger();
    awaitable<void> write_spool();
    void append(std::string_view bytes);
    void lose_message();
    void begin_to_meet_faults();
    awaitable<std::optional<fault>> fault_at(faults::stage at, smtp::login who,
                                             std::string mail_from);
    awaitable<std::optional<fault>> fault_at_rcpt(recipient_result result);
    awaitable<std::optional<fault>> fault_of_message(faults::stage at);
    awaitable<std::optional<fault>> play_fault(mailbox::fault_claim claim);
    bool admit_recipient(recipient_result& result);
    void on_recipient_result(recipient_result result, bool is_new);
    recipient_result result_of_login() const;
    void note_fault(account_id account, inbox_id inbox, std::string_view mail_from,
                    const fault& played);
    void give_back_admissions();
    void note_ending();
    mail_ingest::attempt_log& attempts();
    void begin_to_scan();
    bool is_watched(const recipient_result& result) const;
    void note_refused_login(faults::stage at, const smtp::login& who, std::string mail_from,
                            std::string_view reply, const mail_ingest::fault_memory& met);
    void note_recipient_attempt(const recipient_result& result);
    void note_message_attempt(const ending& ended);
    void note_ended_transaction();
    void note_session_end();
    void note_rejected_recipient(const recipient_result& result);
    void note_rejected_message(const ending& ended);
    void begin_transaction();

    session_context& context_;
    const port_kind port_;
    client_address peer_;
    std::string peer_text_;
    smtp::connection connection_;
    smtp::session_machine machine_;
    std::unique_ptr<mail_ingest::spool> spool_;
    mail_ingest::sender sender_;
    // Stored, but the client has sent nothing since the 250. A pipelining client can have several.
    std::vector<std::shared_ptr<mail_ingest::in_flight_message>> unacknowledged_;
    // Recipients of the transaction under way: its message counts in their rates already.
    std::vector<inbox_id> admitted_;
    bool has_lost_spool_ = false; // the message under way does not fit in memory or on the disk
    bool had_ended_ = false;      // at the last reply to a message the client had closed its side
    bool is_reading_ = false;
    bool has_expired_ = false;
    // What the transaction met of faults on purpose; and the wait that one asked for.
    mail_ingest::fault_memory faults_met_;
    // What it does with inboxes whose senders are watched; absent if there was none.
    std::optional<mail_ingest::attempt_log> attempts_;
    std::vector<std::pair<inbox_id, email_id>> stored_emails_; // of the message that ended last
    int transaction_number_ = 0;
    mail_ingest::delay_slots::slot delay_slot_;
    boost::asio::steady_timer delay_timer_;
    bool is_delayed_ = false;
    bool is_shutting_down_ = false;
    // For a write, a handshake or the final linger.
    std::optional<std::chrono::steady_clock::time_point> connection_deadline_;
    std::optional<std::chrono::steady_clock::time_point> transaction_start_;
    trace::span transaction_span_;
};

} // namespace tempinbox::smtp
