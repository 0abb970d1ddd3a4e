#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/clock_watch.hpp"
#include "mail-ingest/ingest/ingest.hpp"
#include "mail-ingest/recipients/recipients.hpp"
#include "mail-ingest/smtp/client_limiter.hpp"
#include "mail-ingest/smtp/connection.hpp"
#include "mail-ingest/smtp/session_machine.hpp"
#include "mail-ingest/smtp/session_metrics.hpp"
#include "mail-ingest/smtp/tls_context.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <memory>

namespace tempinbox::smtp {

// What the sessions of a listener share; outlives them.
struct session_context
{
    runtime::host& host;
    const smtp::limits& limits;
    mail_ingest::recipients& recipients;
    mail_ingest::ingest& ingest;
    postgres::clock_watch& clock; // while it is off no mail is taken: mail is found by its time
    smtp::client_limiter& client_limiter;
    tls_context& tls;
    session_metrics& metrics;
};

// A dialogue on a connection: reads, writes, asks the directory and the intake, and keeps the
// dialogue's deadlines. All on the loop. What goes wrong on the connection ends it; nothing is
// thrown out of it.
class session : public std::enable_shared_from_this<session>
{
public:
    using tcp = boost::asio::ip::tcp;

    session(session_context& context, tcp::socket socket, tcp::endpoint peer);
    ~session();
    session(const session&) = delete;

    // Runs until the connection ends.
    awaitable<void> run();

    // Each second or so: ends what took too long.
    void check_deadline(std::chrono::steady_clock::time_point now);
    // The service drains: ends the session as soon as no message of it is under way.
    void shut_down();
    // Now, whatever is under way.
    void abort();

private:
    awaitable<void> converse();
    awaitable<bool> receive();
    awaitable<bool> send_output();
    awaitable<bool> shake_hands();
    awaitable<void> look_up();
    awaitable<void> store();
    awaitable<void> delay(std::chrono::milliseconds time);
    awaitable<void> linger();
    awaitable<void> write_spool();
    void append(std::string_view bytes);
    void lose_message();
    void on_recipient_result(recipient_result result);
    void give_back_admissions();
    void note_ending();

    session_context& context_;
    boost::asio::ip::address peer_;
    std::string peer_text_;
    smtp::connection connection_;
    smtp::session_machine machine_;
    std::unique_ptr<mail_ingest::spool> spool_;
    mail_ingest::sender sender_;
    std::vector<std::shared_ptr<mail_ingest::in_flight_message>>
        unacknowledged_; // since the client last said something behind a 250
    std::vector<inbox_id>
        admitted_; // to the transaction under way: their rates count its message already
    bool has_lost_spool_ = false; // the message under way does not fit
    bool had_ended_ = false;      // the client's side, when the last message was answered
    bool is_reading_ = false;
    bool has_expired_ = false;
    std::optional<std::chrono::steady_clock::time_point>
        connection_deadline_; // of a write, a handshake or the end
    std::optional<std::chrono::steady_clock::time_point> transaction_start_;
};

} // namespace tempinbox::smtp
