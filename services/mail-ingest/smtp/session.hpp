#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/clock_watch.hpp"
#include "mail-ingest/directory/directory.hpp"
#include "mail-ingest/intake/intake.hpp"
#include "mail-ingest/smtp/callers.hpp"
#include "mail-ingest/smtp/connection.hpp"
#include "mail-ingest/smtp/dialogue.hpp"
#include "mail-ingest/smtp/session_metrics.hpp"
#include "mail-ingest/smtp/tls_context.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <memory>

namespace tempinbox::smtp {

// What the sessions of a listener share; outlives them.
struct surroundings
{
    runtime::host& host;
    const smtp::limits& limits;
    mail_ingest::directory& directory;
    mail_ingest::intake& intake;
    postgres::clock_watch& clock; // while it is off no mail is taken: mail is found by its time
    smtp::callers& callers;
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

    session(surroundings& around, tcp::socket socket, tcp::endpoint peer);
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
    awaitable<void> pause(std::chrono::milliseconds time);
    awaitable<void> linger();
    awaitable<void> write_spool();
    void append(std::string_view bytes);
    void lose_message();
    void answer_recipient(recipient_answer answer);
    void give_back_admissions();
    void note_ending();

    surroundings& around_;
    boost::asio::ip::address peer_;
    std::string peer_text_;
    smtp::connection connection_;
    smtp::dialogue dialogue_;
    std::unique_ptr<mail_ingest::spool> spool_;
    mail_ingest::sender sender_;
    std::vector<std::shared_ptr<mail_ingest::undecided_mail>>
        last_stored_; // since the client last said something behind a 250
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
