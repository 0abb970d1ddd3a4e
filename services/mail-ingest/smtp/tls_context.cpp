#include "mail-ingest/smtp/tls_context.hpp"

#include "common/log/log.hpp"

#include <sys/stat.h>

namespace tempinbox::smtp {
namespace {

namespace ssl = boost::asio::ssl;

std::int64_t modification_time(const std::string& file)
{
    struct stat found;
    return ::stat(file.c_str(), &found) == 0 ? found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec : 0;
}

std::shared_ptr<ssl::context> load(const std::string& certificate_file, const std::string& key_file)
{
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                         ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::single_dh_use);
    SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Idle sessions keep no read and write buffers.
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    context->use_certificate_chain_file(certificate_file);
    context->use_private_key_file(key_file, ssl::context::pem);
    return context;
}

} // namespace

tls_context::tls_context(std::string certificate_file, std::string key_file)
    : certificate_file_(std::move(certificate_file)),
      key_file_(std::move(key_file)),
      looked_at_(std::chrono::steady_clock::now())
{
    if (certificate_file_.empty())
        return;
    modified_ = modified();
    current_ = load(certificate_file_, key_file_);
}

std::int64_t tls_context::modified() const
{
    return std::max(modification_time(certificate_file_), modification_time(key_file_));
}

std::shared_ptr<ssl::context> tls_context::current()
{
    const auto now = std::chrono::steady_clock::now();
    if (!current_ || now - looked_at_ < std::chrono::seconds(1))
        return current_;
    looked_at_ = now;
    if (const auto changed = modified(); changed != modified_) {
        modified_ = changed;
        try {
            current_ = load(certificate_file_, key_file_);
            log::info("certificate read anew", {{"file", certificate_file_}});
        } catch (const std::exception& error) {
            log::error("certificate cannot be read, the old one stays", {{"file", certificate_file_}, {"error", error.what()}});
        }
    }
    return current_;
}

} // namespace tempinbox::smtp
