#include "common/tls/expiry.hpp"

#include "common/core/text.hpp"
#include "common/tls/handle.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <optional>

namespace tempinbox::tls {
namespace {

std::optional<time_point> expiry_of(const X509& certificate)
{
    std::tm utc{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &utc) != 1)
        return std::nullopt;
    return time_point(std::chrono::seconds(::timegm(&utc)));
}

} // namespace

result<time_point> find_expiry(const std::string& file)
{
    const handle<BIO> opened(BIO_new_file(file.c_str(), "r"));
    std::optional<time_point> first;
    if (opened) {
        while (const handle<X509> certificate{
            PEM_read_bio_X509(opened.get(), nullptr, nullptr, nullptr)})
            if (const auto expiry = expiry_of(*certificate))
                first = std::min(first.value_or(*expiry), *expiry);
    }
    // The end of the file is an error, too.
    ERR_clear_error();
    if (!first)
        return failure{errc::invalid_argument,
                       opened ? "the file " + quote(file) + " holds no certificate"
                              : "the file " + quote(file) + " cannot be read"};
    return *first;
}

void show_expiry(metrics::registry& metrics, const std::string& setting, const std::string& file)
{
    const auto expiry = find_expiry(file);
    metrics
        .gauge("tempinbox_certificate_expiry_timestamp_seconds",
               "Unix time at which the certificate in use ends",
               {{"file", file}, {"setting", setting}})
        .Set(expiry ? static_cast<double>(to_unix_seconds(*expiry)) : 0);
}

} // namespace tempinbox::tls
