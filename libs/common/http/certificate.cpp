#include "common/http/certificate.hpp"

#include "common/log/log.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>
#include <sys/stat.h>

#include <stdexcept>

namespace tempinbox::http {
namespace {

namespace ssl = boost::asio::ssl;

// Changes whenever the file is replaced or written.
std::string look_of(const std::string& file)
{
    struct stat look
    {};
    if (::stat(file.c_str(), &look) != 0)
        return "absent";
    return std::to_string(look.st_ino) + "/" + std::to_string(look.st_size) + "/" + std::to_string(look.st_mtim.tv_sec) + "." +
           std::to_string(look.st_mtim.tv_nsec);
}

// RFC 7301: of what the client offers only HTTP/1.1 is spoken here.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_length, const unsigned char* offered,
                    unsigned offered_length, void*)
{
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, chosen_length, ours, sizeof ours - 1, offered, offered_length) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

std::shared_ptr<ssl::context> load(const std::string& certificate_file, const std::string& key_file)
{
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    const auto handle = context->native_handle();
    SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
    SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(handle, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_alpn_select_cb(handle, choose_protocol, nullptr);
    context->use_certificate_chain_file(certificate_file);
    context->use_private_key_file(key_file, ssl::context::pem);
    if (SSL_CTX_check_private_key(handle) != 1)
        throw std::runtime_error("the key does not belong to the certificate");
    return context;
}

} // namespace

certificate::certificate(std::string certificate_file, std::string key_file)
    : certificate_file_(std::move(certificate_file)),
      key_file_(std::move(key_file)),
      seen_(look_of(certificate_file_) + look_of(key_file_))
{
    try {
        context_ = load(certificate_file_, key_file_);
    } catch (const std::exception& error) {
        throw std::runtime_error("cannot use certificate " + certificate_file_ + " with key " + key_file_ + ": " + error.what());
    }
}

certificate::~certificate() = default;

void certificate::reload_if_changed()
{
    auto look = look_of(certificate_file_) + look_of(key_file_);
    if (look == seen_)
        return;
    seen_ = std::move(look);
    try {
        context_ = load(certificate_file_, key_file_);
        log::info("certificate reloaded", {{"file", certificate_file_}});
    } catch (const std::exception& error) {
        log::error("certificate not reloaded, the old one stays in use", {{"file", certificate_file_}, {"error", error.what()}});
    }
}

} // namespace tempinbox::http
