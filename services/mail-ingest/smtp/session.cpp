#include "mail-ingest/smtp/session.hpp"

#include "common/log/log.hpp"
#include "mail-ingest/smtp/replies.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace tempinbox::smtp {
namespace {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;
using boost::system::error_code;

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t read_size = 64 * 1024;
constexpr std::size_t tls_read_size = 16 * 1024;
constexpr std::chrono::seconds write_patience{60};
constexpr std::chrono::seconds handshake_patience{30};
constexpr std::chrono::seconds linger_patience{2};

std::string_view to_text(recipient_status status)
{
    constexpr std::string_view names[] = {"live", "unknown", "quarantined", "foreign", "full", "over_rate", "unavailable"};
    return names[static_cast<std::size_t>(status)];
}

} // namespace

// The connection, in the clear and then under TLS. A plain session that waits holds no read buffer: one buffer serves all, since
// what is read is used before the loop turns.
class session::transport
{
public:
    explicit transport(tcp::socket socket) : socket_(std::move(socket)) {}

    struct outcome
    {
        error_code error;
        std::string_view bytes;
    };

    awaitable<outcome> read()
    {
        outcome got;
        std::size_t count = 0;
        if (tls_) {
            std::tie(got.error, count) = co_await tls_->async_read_some(asio::buffer(tls_buffer_), token);
            got.bytes = std::string_view(tls_buffer_.data(), count);
            co_return got;
        }
        std::tie(got.error) = co_await socket_.async_wait(tcp::socket::wait_read, token);
        if (!got.error) {
            count = socket_.read_some(asio::buffer(shared_buffer()), got.error);
            if (got.error == asio::error::would_block)
                got.error = {};
        }
        got.bytes = std::string_view(shared_buffer().data(), count);
        co_return got;
    }

    awaitable<error_code> write(const std::string& bytes)
    {
        error_code error;
        std::size_t done = 0;
        if (tls_) {
            std::tie(error, done) = co_await asio::async_write(*tls_, asio::buffer(bytes), token);
            co_return error;
        }
        // A reply nearly always fits the socket's buffer.
        done = socket_.write_some(asio::buffer(bytes), error);
        if (error == asio::error::would_block)
            error = {};
        if (!error && done < bytes.size())
            std::tie(error, done) =
                co_await asio::async_write(socket_, asio::buffer(bytes.data() + done, bytes.size() - done), token);
        co_return error;
    }

    awaitable<error_code> shake_hands(std::shared_ptr<asio::ssl::context> context)
    {
        context_ = std::move(context);
        tls_ = std::make_unique<asio::ssl::stream<tcp::socket&>>(socket_, *context_);
        tls_buffer_.resize(tls_read_size);
        error_code error;
        std::tie(error) = co_await tls_->async_handshake(asio::ssl::stream_base::server, token);
        co_return error;
    }

    std::string protocol() { return SSL_get_version(tls_->native_handle()); }
    bool has_input() const
    {
        error_code error;
        return socket_.available(error) > 0;
    }
    // The client will say nothing more, and all it said was read.
    bool has_ended()
    {
        error_code error;
        char next = 0;
        socket_.receive(asio::buffer(&next, 1), tcp::socket::message_peek, error);
        return error && error != asio::error::would_block;
    }
    void cancel()
    {
        error_code ignored;
        socket_.cancel(ignored);
    }
    // Of TLS with close_notify, which its client must have (RFC 8446 6.1); what comes after the client's own is not TLS.
    awaitable<void> end_output()
    {
        if (tls_) {
            co_await tls_->async_shutdown(token);
            tls_.reset();
        }
        error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
    }
    void close()
    {
        error_code ignored;
        socket_.close(ignored);
    }

private:
    static std::array<char, read_size>& shared_buffer()
    {
        static thread_local std::array<char, read_size> buffer;
        return buffer;
    }

    tcp::socket socket_;
    std::shared_ptr<asio::ssl::context> context_;
    std::unique_ptr<asio::ssl::stream<tcp::socket&>> tls_;
    std::vector<char> tls_buffer_;
};

session::session(surroundings& around, tcp::socket socket, tcp::endpoint peer)
    : around_(around),
      peer_(peer.address()),
      peer_text_(peer_.to_string()),
      transport_(std::make_unique<transport>(std::move(socket))),
      dialogue_(around.limits, dialogue::client{around.callers.is_exempt(peer_), around.tls.is_available()}, steady::now())
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
    if (spool_)
        around_.metrics.aborted();
    if (!dialogue_.is_confirmed())
        around_.intake.note_unconfirmed(last_stored_);
    give_back_admissions();
    transport_->close();
}

awaitable<void> session::converse()
{
    if (transport_->has_input()) {
        const auto early = co_await transport_->read();
        dialogue_.receive(early.bytes, steady::now());
        dialogue_.greet();
    } else {
        dialogue_.greet();
    }
    for (;;) {
        dialogue_.set_overloaded(around_.intake.is_overloaded());
        dialogue_.set_busy(around_.callers.are_many());
        dialogue_.set_over_rate(around_.callers.is_over_rate(peer_, steady::now()));
        const auto wanted = dialogue_.next();
        note_ending();
        bool goes_on = true;
        switch (wanted.what) {
        case action::kind::read:
            goes_on = co_await send_output();
            if (goes_on)
                goes_on = co_await receive();
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
    const auto got = co_await transport_->read();
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
    transport_deadline_ = steady::now() + write_patience;
    const auto error = co_await transport_->write(dialogue_.output());
    transport_deadline_.reset();
    dialogue_.clear_output();
    co_return !error;
}

awaitable<bool> session::shake_hands()
{
    const bool is_sent = co_await send_output();
    if (!is_sent)
        co_return false;
    transport_deadline_ = steady::now() + handshake_patience;
    const auto error = co_await transport_->shake_hands(around_.tls.current());
    transport_deadline_.reset();
    if (error) {
        log::debug("TLS handshake failed", {{"error", error.message()}, {"remote_ip", peer_text_}});
        co_return false;
    }
    dialogue_.tls_started(transport_->protocol(), steady::now());
    co_return true;
}

awaitable<void> session::look_up()
{
    // Before the first that is taken: what was tried before a RSET, or in vain, began no transaction.
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
    const bool is_new = answer.status == recipient_status::live && !dialogue_.transaction().goes_to(answer.inbox);
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
    if (!spool_ || has_lost_spool_)
        return;
    has_lost_spool_ = !spool_->append(bytes);
    if (has_lost_spool_)
        log::error("no room for a message, neither in memory nor on the disk");
}

awaitable<void> session::store()
{
    auto message = std::move(spool_);
    mail_ingest::taken_message taken(message_status::overloaded);
    if (message && !has_lost_spool_) {
        auto envelope = dialogue_.transaction();
        taken = co_await around_.intake.take(std::move(envelope), std::move(message), peer_text_);
    }
    const auto now = steady::now();
    if (taken.answer.status == message_status::stored) {
        around_.callers.note_accepted_mail(peer_, now);
        around_.callers.note_message(peer_, now);
        admitted_.clear();
    }
    // Of messages sent without waiting for answers more than one may be unconfirmed.
    if (dialogue_.is_confirmed())
        last_stored_.clear();
    last_stored_.insert(last_stored_.end(), taken.emails.begin(), taken.emails.end());
    had_ended_ = transport_->has_ended();
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
    transport_deadline_ = steady::now() + linger_patience;
    co_await transport_->end_output();
    for (std::size_t skipped = 0; skipped < 1024 * 1024;) {
        const auto got = co_await transport_->read();
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
    around_.metrics.transaction(ended->result, ended->code, std::chrono::duration<double>(steady::now() - start).count());
}

void session::check_deadline(steady::time_point now)
{
    if (transport_deadline_ && now >= *transport_deadline_) {
        transport_->close();
    } else if (is_reading_ && now >= dialogue_.deadline()) {
        has_expired_ = true;
        transport_->cancel();
    }
}

void session::shut_down()
{
    dialogue_.shut_down();
    if (is_reading_ && !dialogue_.is_in_message())
        transport_->cancel();
}

void session::abort()
{
    transport_->close();
}

} // namespace tempinbox::smtp
