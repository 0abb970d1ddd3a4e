#include "mail-ingest/smtp/server_certificate.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

namespace tempinbox::smtp {
namespace {

void prefer_own_ciphers(boost::asio::ssl::context& context)
{
    SSL_CTX_set_options(context.native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
}

} // namespace

tls::watched_certificate watch_certificate(runtime::host& host, const tls::certificate_files& pair)
{
    if (pair.certificate.empty())
        return {};
    return tls::watch_certificate(host.files(), host.metrics(), pair, prefer_own_ciphers);
}

} // namespace tempinbox::smtp
