#include "mail-ingest/smtp/tls_context.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

namespace tempinbox::smtp {
namespace {

void prefer_own_ciphers(boost::asio::ssl::context& context)
{
    SSL_CTX_set_options(context.native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
}

} // namespace

tls_context::tls_context(metrics::registry& metrics, const std::string& certificate_file,
                         const std::string& key_file)
    : checked_at_(std::chrono::steady_clock::now())
{
    if (!certificate_file.empty())
        certificate_ = std::make_unique<tls::certificate>(metrics, certificate_file, key_file,
                                                          prefer_own_ciphers);
}

std::shared_ptr<boost::asio::ssl::context> tls_context::current()
{
    if (!certificate_)
        return nullptr;
    const auto now = std::chrono::steady_clock::now();
    if (now - checked_at_ >= std::chrono::seconds(1)) {
        checked_at_ = now;
        certificate_->reload_if_changed();
    }
    return certificate_->context();
}

} // namespace tempinbox::smtp
