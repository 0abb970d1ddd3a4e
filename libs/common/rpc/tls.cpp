#include "common/rpc/tls.hpp"

#include "common/tls/expiry.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

#include <stdexcept>

namespace tempinbox::rpc {
namespace {

namespace ssl = boost::asio::ssl;

struct current_contexts
{
    std::shared_ptr<ssl::context> server;
    std::shared_ptr<ssl::context> client;
};

std::shared_ptr<ssl::context> make_context(ssl::context::method role, const tls_settings& files)
{
    auto context = std::make_shared<ssl::context>(role);
    auto* const handle = context->native_handle();
    SSL_CTX_set_min_proto_version(handle, TLS1_3_VERSION);
    SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
    // A resumed session is not verified again: it would outlive a certificate that has expired and
    // an authority that was taken out.
    SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(handle, 0);
    context->load_verify_file(files.ca_file);
    context->use_certificate_chain_file(files.certificate_file);
    context->use_private_key_file(files.key_file, ssl::context::pem);
    if (SSL_CTX_check_private_key(handle) != 1)
        throw std::runtime_error("the key does not belong to the certificate");
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    return context;
}

current_contexts load(const tls_settings& files)
{
    try {
        return {make_context(ssl::context::tls_server, files),
                make_context(ssl::context::tls_client, files)};
    } catch (const std::exception& error) {
        // The files are named, which OpenSSL does not do.
        throw std::runtime_error("cannot use certificate " + files.certificate_file + " with key " +
                                 files.key_file + " and authorities " + files.ca_file + ": " +
                                 error.what());
    }
}

} // namespace

tls_settings read_tls_settings(config::reader& reader)
{
    tls_settings chosen;
    chosen.certificate_file = reader.readable_file(
        "rpc-tls-certificate-file", "",
        "Certificate chain (PEM) that this process shows in calls between services, which are then "
        "mutual TLS 1.3; re-read when it changes; empty: calls are plain HTTP");
    chosen.key_file =
        reader.readable_file("rpc-tls-key-file", "", "Private key (PEM) of that certificate");
    chosen.ca_file = reader.readable_file(
        "rpc-tls-ca-file", "",
        "Certificate authorities (PEM) that the certificates of the other services come from");
    const bool is_any =
        !chosen.certificate_file.empty() || !chosen.key_file.empty() || !chosen.ca_file.empty();
    const auto require = [&](std::string_view name, const std::string& file) {
        if (is_any && file.empty())
            reader.add_problem(name, "must be set: rpc-tls-certificate-file, rpc-tls-key-file and "
                                     "rpc-tls-ca-file go together");
    };
    require("rpc-tls-certificate-file", chosen.certificate_file);
    require("rpc-tls-key-file", chosen.key_file);
    require("rpc-tls-ca-file", chosen.ca_file);
    return chosen;
}

tls_contexts watch_tls(runtime::host& host, const tls_settings& files)
{
    if (!files.is_set())
        return {};
    const auto current = std::make_shared<current_contexts>();
    tls_contexts contexts;
    contexts.watched = host.files().watch(
        "rpc-tls-certificate-file", {files.certificate_file, files.key_file, files.ca_file},
        [current, files, &metrics = host.metrics()] {
            *current = load(files);
            tls::show_expiry(metrics, "rpc-tls-certificate-file", files.certificate_file);
            tls::show_expiry(metrics, "rpc-tls-ca-file", files.ca_file);
        });
    contexts.server = [current] { return current->server; };
    contexts.client = [current] { return current->client; };
    return contexts;
}

} // namespace tempinbox::rpc
