#pragma once

#include "common/core/awaitable.hpp"
#include "common/http/client.hpp"
#include "common/http/connection_pool.hpp"
#include "common/http/input_buffer.hpp"
#include "common/http/url.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace tempinbox::http {

// What a client's exchanges share; each keeps it alive.
struct client_context
{
    client_context(boost::asio::io_context& owner, client_settings chosen);

    boost::asio::io_context& loop;
    client_settings settings;
    boost::asio::ssl::context tls;
    std::shared_ptr<connection_pool> pool;
};

// Cancels a transport's operation at a given time. Lives as long as its timer, so it may outlast
// the exchange it watched.
class watchdog : public std::enable_shared_from_this<watchdog>
{
public:
    using clock = std::chrono::steady_clock;

    explicit watchdog(boost::asio::io_context& loop) : timer_(loop) {}

    void guard(transport* wire) { wire_ = wire; }
    void arm(clock::time_point when);
    void disarm();
    bool is_expired() const { return is_expired_; }

private:
    boost::asio::steady_timer timer_;
    clock::time_point when_{};
    transport* wire_ = nullptr;
    bool is_expired_ = false;
};

// One request and its response over the client's connections.
class http_exchange
{
public:
    http_exchange(client_context& context, client_request outgoing);
    ~http_exchange();
    http_exchange(const http_exchange&) = delete;

    awaitable<client_response> perform();

private:
    using address_list = std::vector<boost::asio::ip::address>;
    enum class ending { answered, died_unanswered };

    awaitable<void> perform_with(connection_pool::pooled_connection& pooled_connection);
    awaitable<std::unique_ptr<transport>>
    dial(connection_pool::pooled_connection& pooled_connection);
    awaitable<address_list> find_addresses();
    awaitable<std::unique_ptr<transport>> connect(boost::asio::ip::address address);
    awaitable<bool> secure(transport& wire, connection_pool::pooled_connection& pooled_connection);
    awaitable<ending> converse(transport& wire);

    void fail(exchange_error error, std::string text, boost::system::error_code cause = {});

    client_context& context_;
    client_request request_;
    target_url url_;
    std::string head_;
    client_response response_;
    watchdog::clock::time_point started_;
    watchdog::clock::time_point deadline_;
    std::shared_ptr<watchdog> watch_;
    bool is_reusable_ = false;
};

} // namespace tempinbox::http
