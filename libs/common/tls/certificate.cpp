#include "common/tls/certificate.hpp"

#include "common/log/log.hpp"
#include "common/metrics/files_current.hpp"
#include "common/tls/expiry.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>
#include <sys/stat.h>

#include <stdexcept>

namespace tempinbox::tls {
namespace {

namespace ssl = boost::asio::ssl;

// Changes whenever the file is replaced or written.
std::string file_state(const std::string& file)
{
    struct stat state{};
    if (::stat(file.c_str(), &state) != 0)
        return "absent";
    return std::to_string(state.st_ino) + "/" + std::to_string(state.st_size) + "/" +
           std::to_string(state.st_mtim.tv_sec) + "." + std::to_string(state.st_mtim.tv_nsec);
}

std::shared_ptr<ssl::context> make_context(const std::string& certificate_file,
                                           const std::string& key_file,
                                           certificate::preparation prepare)
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

} // namespace

certificate::certificate(metrics::registry& metrics, std::string certificate_file,
                         std::string key_file, preparation prepare)
    : metrics_(metrics),
      certificate_file_(std::move(certificate_file)),
      key_file_(std::move(key_file)),
      prepare_(prepare),
      seen_(file_state(certificate_file_) + file_state(key_file_))
{
    try {
        load();
    } catch (const std::exception& error) {
        // The files are named, which OpenSSL does not do.
        throw std::runtime_error("cannot use certificate " + certificate_file_ + " with key " +
                                 key_file_ + ": " + error.what());
    }
    metrics::files_current(metrics_, "tls-certificate-file").Set(1);
}

certificate::~certificate() = default;

void certificate::load()
{
    context_ = make_context(certificate_file_, key_file_, prepare_);
    show_expiry(metrics_, certificate_file_);
}

void certificate::reload_if_changed()
{
    auto state = file_state(certificate_file_) + file_state(key_file_);
    if (state == seen_)
        return;
    seen_ = std::move(state);
    try {
        load();
        metrics::files_current(metrics_, "tls-certificate-file").Set(1);
        log::info("certificate reloaded", {{"file", certificate_file_}});
    } catch (const std::exception& error) {
        // A file that is being replaced must not end TLS: the old certificate stays in use.
        metrics::files_current(metrics_, "tls-certificate-file").Set(0);
        log::error("certificate not reloaded, the old one stays in use",
                   {{"file", certificate_file_}, {"error", error.what()}});
    }
}

} // namespace tempinbox::tls
