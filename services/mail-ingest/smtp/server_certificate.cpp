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

tls::watched_certificate watch_certificate(runtime::host& host, const std::string& certificate_file,
                                           const std::string& key_file)
{
    if (certificate_file.empty())
        return {};
    return tls::watch_certificate(host.files(), host.metrics(), certificate_file, key_file,
                                  prefer_own_ciphers);
}

} // namespace tempinbox::smtp
