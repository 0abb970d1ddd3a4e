#include "common/tls/certificate.hpp"

#include "common/tls/expiry.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tempinbox::tls {
namespace {

namespace ssl = boost::asio::ssl;

std::shared_ptr<ssl::context> make_context(const std::string& certificate_file,
                                           const std::string& key_file, preparation prepare)
{
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    const auto handle = context->native_handle();
    SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
    SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(handle, SSL_OP_NO_RENEGOTIATION);
    prepare(*context);
    context->use_certificate_chain_file(certificate_file);
    context->use_private_key_file(key_file, ssl::context::pem);
    if (SSL_CTX_check_private_key(handle) != 1)
        throw std::runtime_error("the key does not belong to the certificate");
    return context;
}

std::shared_ptr<ssl::context> load(const std::string& certificate_file, const std::string& key_file,
                                   preparation prepare)
{
    try {
        return make_context(certificate_file, key_file, prepare);
    } catch (const std::exception& error) {
        // The files are named, which OpenSSL does not do.
        throw std::runtime_error("cannot use certificate " + certificate_file + " with key " +
                                 key_file + ": " + error.what());
    }
}

awaitable<std::chrono::microseconds> verify(metrics::registry& metrics, certificate_files pair)
{
    show_verification(metrics, pair.setting, pair.certificate, *pair.verified_by);
    co_return pair.verified_each;
}

} // namespace

watched_certificate watch_certificate(runtime::file_watch& files, metrics::registry& metrics,
                                      const certificate_files& pair, preparation prepare)
{
    const auto current = std::make_shared<std::shared_ptr<ssl::context>>();
    watched_certificate made;
    std::vector<std::string> read{pair.certificate, pair.key};
    if (pair.verified_by) {
        if (!pair.verified_by->ca_file.empty())
            read.push_back(pair.verified_by->ca_file);
        made.verification = std::make_shared<async::periodic_task>(
            files.executor(), metrics, "verify_certificate",
            [&metrics, pair] { return verify(metrics, pair); });
    }
    const auto verification = made.verification;
    const auto use = [current, &metrics, pair, prepare, verification] {
        *current = load(pair.certificate, pair.key, prepare);
        show_expiry(metrics, pair.setting, pair.certificate);
        if (verification)
            verification->wake();
    };
    made.watched = files.watch(pair.setting, std::move(read), use);
    if (verification)
        verification->start();
    made.current = [current] { return *current; };
    return made;
}

} // namespace tempinbox::tls
