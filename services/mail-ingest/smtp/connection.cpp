#include "mail-ingest/smtp/connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstring>
#include <poll.h>
#include <utility>

namespace tempinbox::smtp {
namespace {

namespace asio = boost::asio;

constexpr auto tuple_awaitable = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t tls_read_size = 16 * 1024;

} // namespace

awaitable<connection::read_result> connection::read()
{
    read_result got;
    std::size_t count = 0;
    if (tls_) {
        std::tie(got.error, count) =
            co_await tls_->async_read_some(asio::buffer(tls_buffer_), tuple_awaitable);
        last_read_ = count;
        got.bytes = std::string_view(tls_buffer_.data(), count);
        co_return got;
    }
    std::tie(got.error) = co_await socket_.async_wait(tcp::socket::wait_read, tuple_awaitable);
    if (!got.error) {
        count = socket_.read_some(asio::buffer(shared_buffer()), got.error);
        if (got.error == asio::error::would_block)
            got.error = {};
    }
    last_read_ = count;
    got.bytes = std::string_view(shared_buffer().data(), count);
    co_return got;
}

void connection::wipe_input()
{
    ::explicit_bzero(tls_ ? tls_buffer_.data() : shared_buffer().data(),
                     std::exchange(last_read_, 0));
}

awaitable<connection::error_code> connection::write(const std::string& bytes)
{
    error_code error;
    std::size_t done = 0;
    if (tls_) {
        std::tie(error, done) =
            co_await asio::async_write(*tls_, asio::buffer(bytes), tuple_awaitable);
        co_return error;
    }
    // A reply nearly always fits the socket's send buffer.
    done = socket_.write_some(asio::buffer(bytes), error);
    if (error == asio::error::would_block)
        error = {};
    if (!error && done < bytes.size())
        std::tie(error, done) = co_await asio::async_write(
            socket_, asio::buffer(bytes.data() + done, bytes.size() - done), tuple_awaitable);
    co_return error;
}

awaitable<connection::error_code>
connection::shake_hands(std::shared_ptr<asio::ssl::context> context)
{
    context_ = std::move(context);
    tls_ = std::make_unique<asio::ssl::stream<tcp::socket&>>(socket_, *context_);
    tls_buffer_.resize(tls_read_size);
    last_read_ = 0; // that was of the other buffer, which is larger
    error_code error;
    std::tie(error) =
        co_await tls_->async_handshake(asio::ssl::stream_base::server, tuple_awaitable);
    co_return error;
}

awaitable<void> connection::end_output()
{
    if (tls_) {
        co_await tls_->async_shutdown(tuple_awaitable);
        tls_.reset();
    }
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void connection::cancel()
{
    error_code ignored;
    socket_.cancel(ignored);
}

void connection::close()
{
    error_code ignored;
    socket_.close(ignored);
}

std::string connection::protocol()
{
    return SSL_get_version(tls_->native_handle());
}

bool connection::has_input() const
{
    error_code error;
    return socket_.available(error) > 0;
}

bool connection::has_ended()
{
    error_code error;
    char next = 0;
    socket_.receive(asio::buffer(&next, 1), tcp::socket::message_peek, error);
    return error && error != asio::error::would_block;
}

bool connection::has_hung_up()
{
    if (!socket_.is_open())
        return true;
    pollfd descriptor{socket_.native_handle(), POLLRDHUP, 0};
    return ::poll(&descriptor, 1, 0) > 0;
}

std::array<char, connection::read_size>& connection::shared_buffer()
{
    static thread_local std::array<char, read_size> buffer;
    return buffer;
}

} // namespace tempinbox::smtp
