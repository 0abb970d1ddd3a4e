#include "mail-ingest/smtp/session.hpp"

#include "common/log/log.hpp"
#include "mail-ingest/smtp/replies.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::smtp {
namespace {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds write_patience{60};
constexpr std::chrono::seconds handshake_patience{30};
constexpr std::chrono::seconds linger_patience{2};

std::string_view to_text(recipient_status status)
{
    constexpr std::string_view names[] = {"live", "unknown",   "quarantined", "foreign",
                                          "full", "over_rate", "unavailable"};
    return names[static_cast<std::size_t>(status)];
}

} // namespace

session::session(surroundings& around, tcp::socket socket, tcp::endpoint peer)
    : around_(around),
      peer_(peer.address()),
      peer_text_(peer_.to_string()),
      connection_(std::move(socket)),
      dialogue_(around.limits,
                dialogue::client{around.callers.is_exempt(peer_), around.tls.is_available()},
                steady::now()),
      sender_{[this] { return connection_.has_hung_up(); }}
{
    around_.metrics.session_began();
}

session::~session()
{
    around_.callers.leave(peer_);
    around_.metrics.session_ended();
}

awaitable<void> session::run()
{
    try {
        co_await converse();
    } catch (const std::exception& error) {
        log::error("SMTP session failed", {{"error", error.what()}, {"remote_ip", peer_text_}});
    }
    if (spool_ || has_lost_spool_)
        around_.metrics.aborted();
    for (auto& one : std::exchange(last_stored_, {})) {
        if (!dialogue_.is_confirmed())
            around_.intake.note_unconfirmed(std::move(one));
    }
    give_back_admissions();
    connection_.close();
}

awaitable<void> session::converse()
{
    if (connection_.has_input()) {
        const auto early = co_await connection_.read();
        dialogue_.receive(early.bytes, steady::now());
        dialogue_.greet();
    } else {
        dialogue_.greet();
    }
    for (;;) {
        dialogue_.set_overloaded(around_.intake.is_overloaded());
        dialogue_.set_room(around_.intake.room());
        dialogue_.set_unavailable(around_.clock.is_off());
        dialogue_.set_busy(around_.callers.are_many());
        dialogue_.set_over_rate(around_.callers.is_over_rate(peer_, steady::now()));
        const auto wanted = dialogue_.next();
        // Of messages sent without waiting for answers more than one may be unconfirmed.
        if (dialogue_.is_confirmed())
            last_stored_.clear();
        note_ending();
        bool goes_on = true;
        switch (wanted.what) {
        case action::kind::read:
            goes_on = co_await send_output();
            if (goes_on) {
                co_await write_spool();
                goes_on = co_await receive();
            }
            break;
        case action::kind::look_up:
            co_await look_up();
            break;
        case action::kind::begin:
            spool_ = around_.intake.open_spool();
            has_lost_spool_ = false;
            break;
        case action::kind::append:
            append(wanted.bytes);
            break;
        case action::kind::drop:
            spool_.reset();
            has_lost_spool_ = false;
            break;
        case action::kind::finish:
            co_await store();
            break;
        case action::kind::start_tls:
            goes_on = co_await shake_hands();
            break;
        case action::kind::delay:
            goes_on = co_await send_output();
            if (goes_on)
                co_await pause(wanted.wait);
            break;
        case action::kind::close:
            goes_on = co_await send_output();
            if (goes_on)
                co_await linger();
            co_return;
        }
        if (!goes_on)
            co_return;
    }
}

// False when the connection is gone.
awaitable<bool> session::receive()
{
    is_reading_ = true;
    const auto got = co_await connection_.read();
    is_reading_ = false;
    const bool has_expired = std::exchange(has_expired_, false);
    if (!got.bytes.empty())
        dialogue_.receive(got.bytes, steady::now());
    else if (has_expired)
        dialogue_.expire(steady::now());
    else if (got.error && got.error != asio::error::operation_aborted)
        co_return false;
    co_return true;
}

awaitable<bool> session::send_output()
{
    if (dialogue_.output().empty())
        co_return true;
    connection_deadline_ = steady::now() + write_patience;
    const auto error = co_await connection_.write(dialogue_.output());
    connection_deadline_.reset();
    dialogue_.clear_output();
    co_return !error;
}

awaitable<bool> session::shake_hands()
{
    if (!co_await send_output())
        co_return false;
    connection_deadline_ = steady::now() + handshake_patience;
    const auto error = co_await connection_.shake_hands(around_.tls.current());
    connection_deadline_.reset();
    if (error) {
        log::debug("TLS handshake failed", {{"error", error.message()}, {"remote_ip", peer_text_}});
        co_return false;
    }
    dialogue_.tls_started(connection_.protocol(), steady::now());
    co_return true;
}

awaitable<void> session::look_up()
{
    // Before the first that is taken: what was tried before a RSET, or in vain, began no
    // transaction.
    if (dialogue_.transaction().recipients.empty()) {
        transaction_start_ = steady::now();
        give_back_admissions();
    }
    auto known = around_.directory.recall(dialogue_.wanted());
    if (!known) {
        auto wanted = dialogue_.wanted();
        known = co_await around_.directory.find(std::move(wanted));
    }
    answer_recipient(std::move(*known));
}

void session::answer_recipient(recipient_answer answer)
{
    const auto now = steady::now();
    const bool is_new =
        answer.status == recipient_status::live && !dialogue_.transaction().goes_to(answer.inbox);
    if (is_new && !around_.directory.admits(answer.inbox))
        answer.status = recipient_status::over_rate;
    if (answer.status == recipient_status::unknown)
        around_.callers.note_unknown_recipient(peer_, now);
    answer.is_slowed = around_.callers.is_slowed(peer_, now);
    around_.metrics.recipient(to_text(answer.status));
    dialogue_.answer_recipient(answer);
    if (is_new && answer.status == recipient_status::live) {
        if (dialogue_.transaction().goes_to(answer.inbox))
            admitted_.push_back(answer.inbox);
        else
            around_.directory.give_back(answer.inbox);
    }
}

// A message that did not come counts for nobody.
void session::give_back_admissions()
{
    for (const auto inbox : std::exchange(admitted_, {}))
        around_.directory.give_back(inbox);
}

void session::append(std::string_view bytes)
{
    if (spool_ && !spool_->append(bytes))
        lose_message();
}

// Before more is read: nothing gathers in memory for a disk that is slow.
awaitable<void> session::write_spool()
{
    if (!spool_)
        co_return;
    const bool is_written = co_await spool_->write();
    if (!is_written)
        lose_message();
}

void session::lose_message()
{
    log::warning("no room for a message, neither in memory nor on the disk",
                 {{"remote_ip", peer_text_}});
    spool_.reset();
    has_lost_spool_ = true;
    dialogue_.lose_message();
}

awaitable<void> session::store()
{
    auto message = std::move(spool_);
    mail_ingest::taken_message taken(message_status::overloaded);
    const bool is_in_time = co_await around_.clock.is_compared();
    if (!is_in_time || around_.clock.is_off()) {
        taken.answer.status = message_status::unavailable;
    } else if (message) {
        auto envelope = dialogue_.transaction();
        taken = co_await around_.intake.take(std::move(envelope), std::move(message), peer_text_,
                                             sender_);
    }
    const auto now = steady::now();
    if (taken.answer.status == message_status::stored) {
        around_.callers.note_accepted_mail(peer_, now);
        around_.callers.note_message(peer_, now);
        admitted_.clear();
    }
    if (taken.undecided)
        last_stored_.push_back(std::move(taken.undecided));
    had_ended_ = connection_.has_ended();
    dialogue_.answer_message(taken.answer, now);
}

awaitable<void> session::pause(std::chrono::milliseconds time)
{
    asio::steady_timer timer(around_.host.executor());
    timer.expires_after(time);
    co_await timer.async_wait(token);
}

// Closing with bytes of the client unread would take the last reply back.
awaitable<void> session::linger()
{
    connection_deadline_ = steady::now() + linger_patience;
    co_await connection_.end_output();
    for (std::size_t skipped = 0; skipped < 1024 * 1024;) {
        const auto got = co_await connection_.read();
        // One that had hung up before the last 250 may never have seen it.
        if (got.error == asio::error::eof && !had_ended_)
            dialogue_.ended_in_order();
        if (got.error || got.bytes.empty())
            co_return;
        skipped += got.bytes.size();
    }
}

void session::note_ending()
{
    const auto ended = dialogue_.take_ending();
    if (!ended)
        return;
    const auto start = std::exchange(transaction_start_, std::nullopt).value_or(steady::now());
    spool_.reset();
    has_lost_spool_ = false;
    around_.metrics.transaction(ended->result, ended->code,
                                std::chrono::duration<double>(steady::now() - start).count());
}

void session::check_deadline(steady::time_point now)
{
    if (connection_deadline_ && now >= *connection_deadline_) {
        connection_.close();
    } else if (is_reading_ && now >= dialogue_.deadline()) {
        has_expired_ = true;
        connection_.cancel();
    }
}

void session::shut_down()
{
    dialogue_.shut_down();
    if (is_reading_ && !dialogue_.is_in_message())
        connection_.cancel();
}

void session::abort()
{
    connection_.close();
}

} // namespace tempinbox::smtp
