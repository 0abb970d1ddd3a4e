#include "common/tls/verification.hpp"

#include "common/core/text.hpp"
#include "common/log/log.hpp"
#include "common/tls/handle.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace tempinbox::tls {
namespace {

// The server's own certificate first.
handle<STACK_OF(X509)> read_chain(const std::string& file)
{
    handle<STACK_OF(X509)> chain(sk_X509_new_null());
    if (const handle<BIO> opened{BIO_new_file(file.c_str(), "r")})
        while (X509* const next = PEM_read_bio_X509(opened.get(), nullptr, nullptr, nullptr))
            sk_X509_push(chain.get(), next);
    // The end of the file is an error, too.
    ERR_clear_error();
    return chain;
}

bool trust(X509_STORE& authorities, const std::string& ca_file)
{
    const int trusted = ca_file.empty() ? X509_STORE_set_default_paths(&authorities)
                                        : X509_STORE_load_file(&authorities, ca_file.c_str());
    ERR_clear_error();
    return trusted == 1;
}

void expect_host(X509_VERIFY_PARAM& expected, const std::string& host)
{
    if (host.empty() || X509_VERIFY_PARAM_set1_ip_asc(&expected, host.c_str()) == 1)
        return;
    ERR_clear_error();
    X509_VERIFY_PARAM_set_hostflags(&expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(&expected, host.data(), host.size());
}

} // namespace

result<void> verify_as_client(const std::string& file, const client_view& view)
{
    const auto chain = read_chain(file);
    if (sk_X509_num(chain.get()) == 0)
        return failure{errc::invalid_argument, "the file " + quote(file) + " holds no certificate"};
    const handle<X509_STORE> authorities(X509_STORE_new());
    if (!trust(*authorities, view.ca_file))
        return failure{errc::invalid_argument, "the authorities that clients trust cannot be read"};
    const handle<X509_STORE_CTX> verification(X509_STORE_CTX_new());
    X509_STORE_CTX_init(verification.get(), authorities.get(), sk_X509_value(chain.get(), 0),
                        chain.get());
    X509_STORE_CTX_set_default(verification.get(), "ssl_server");
    expect_host(*X509_STORE_CTX_get0_param(verification.get()), view.host);
    const bool is_taken = X509_verify_cert(verification.get()) == 1;
    ERR_clear_error();
    if (is_taken)
        return {};
    return failure{errc::invalid_argument,
                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification.get()))};
}

void show_verification(metrics::registry& metrics, const std::string& setting,
                       const std::string& file, const client_view& view)
{
    const auto verified = verify_as_client(file, view);
    metrics
        .gauge("tempinbox_certificate_verified",
               "Whether clients that verify it take the certificate in use (1)",
               {{"setting", setting}})
        .Set(verified ? 1 : 0);
    if (!verified)
        log::warning("clients that verify it do not take the certificate",
                     {{"setting", setting},
                      {"file", file},
                      {"host", view.host},
                      {"error", verified.error().message}});
}

} // namespace tempinbox::tls
