#include "common/http/client.hpp"

#include "common/http/http_exchange.hpp"

#include <openssl/ssl.h>

#include <stdexcept>

namespace tempinbox::http {

namespace ssl = boost::asio::ssl;

std::string_view to_string(exchange_error error)
{
    switch (error) {
    case exchange_error::none:
        return "none";
    case exchange_error::resolve:
        return "resolve";
    case exchange_error::refused_address:
        return "refused_address";
    case exchange_error::connect:
        return "connect";
    case exchange_error::tls:
        return "tls";
    case exchange_error::timeout:
        return "timeout";
    case exchange_error::closed:
        return "closed";
    case exchange_error::malformed:
        return "malformed";
    case exchange_error::too_large:
        return "too_large";
    }
    return "none";
}

namespace {

pool_limits limits_of(const client_settings& settings)
{
    pool_limits limits;
    limits.per_host = settings.connections_per_host;
    limits.idle = settings.idle_connections;
    limits.idle_timeout = settings.idle_timeout;
    limits.max_age = settings.connection_max_age;
    return limits;
}

void load_trust(ssl::context& tls, const std::string& ca_file)
{
    boost::system::error_code error;
    if (ca_file.empty())
        tls.set_default_verify_paths(error);
    else
        tls.load_verify_file(ca_file, error);
    if (error)
        throw std::runtime_error("cannot read the trusted certificates of " + ca_file + ": " +
                                 error.message());
}

} // namespace

client_context::client_context(boost::asio::io_context& owner, client_settings chosen)
    : loop(owner),
      settings(std::move(chosen)),
      tls(ssl::context::tls_client),
      pool(std::make_shared<connection_pool>(owner, limits_of(settings)))
{
    const auto handle = tls.native_handle();
    SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
    SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(handle, connection_pool::on_new_session);
    load_trust(tls, settings.ca_file);
}

// The exchanges in progress keep what they share alive.
struct client::state
{
    state(boost::asio::io_context& loop, client_settings settings)
        : context(loop, std::move(settings))
    {}
    client_context context;

    static awaitable<client_response> send(std::shared_ptr<state> self, client_request outgoing);
};

client::client(boost::asio::io_context& loop, client_settings settings)
    : state_(std::make_shared<state>(loop, std::move(settings)))
{}

client::~client()
{
    state_->context.pool->close();
}

void client::reload_trust()
{
    auto& context = state_->context;
    ssl::context fresh(ssl::context::tls_client);
    load_trust(fresh, context.settings.ca_file);
    SSL_CTX_set1_cert_store(context.tls.native_handle(),
                            SSL_CTX_get_cert_store(fresh.native_handle()));
    // A resumed session would rest on what was trusted before.
    context.pool->discard_sessions();
}

awaitable<client_response> client::send(client_request outgoing)
{
    return state::send(state_, std::move(outgoing));
}

awaitable<client_response> client::state::send(std::shared_ptr<state> self, client_request outgoing)
{
    http_exchange running(self->context, std::move(outgoing));
    client_response response = co_await running.perform();
    co_return response;
}

} // namespace tempinbox::http
