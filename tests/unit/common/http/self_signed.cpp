#include "unit/common/http/self_signed.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace tempinbox::testing {
namespace {

template <class T, void (*Free)(T*)>
struct freed_by
{
    void operator()(T* object) const { Free(object); }
};

using key_pointer = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY, EVP_PKEY_free>>;
using certificate_pointer = std::unique_ptr<X509, freed_by<X509, X509_free>>;
using bio_pointer = std::unique_ptr<BIO, freed_by<BIO, BIO_free_all>>;

std::string text_of(BIO* memory)
{
    char* bytes = nullptr;
    const auto length = BIO_get_mem_data(memory, &bytes);
    return {bytes, static_cast<std::size_t>(length)};
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& content)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, content.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

bio_pointer reader_of(const std::string& text)
{
    return bio_pointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without an authority it vouches for itself.
self_signed make_certificate(const std::string& names, validity when, const self_signed* authority)
{
    static long serial = 0;
    const key_pointer key(EVP_EC_gen("P-256"));
    const certificate_pointer certificate(X509_new());
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), when.from.count());
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), when.until.count());
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const subject = X509_get_subject_name(certificate.get());
    const auto common_name = "test " + std::to_string(serial);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                               0);
    certificate_pointer issuer;
    key_pointer issuer_key;
    if (authority) {
        issuer.reset(
            PEM_read_bio_X509(reader_of(authority->certificate).get(), nullptr, nullptr, nullptr));
        issuer_key.reset(
            PEM_read_bio_PrivateKey(reader_of(authority->key).get(), nullptr, nullptr, nullptr));
    }
    X509* const signer = issuer ? issuer.get() : certificate.get();
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
    add_extension(certificate.get(), signer, NID_basic_constraints,
                  authority ? "critical,CA:FALSE" : "critical,CA:TRUE");
    add_extension(certificate.get(), signer, NID_subject_alt_name, names);
    if (authority)
        add_extension(certificate.get(), signer, NID_ext_key_usage, "serverAuth,clientAuth");
    X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256());

    const bio_pointer certificate_text(BIO_new(BIO_s_mem()));
    const bio_pointer key_text(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(certificate_text.get(), certificate.get());
    PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {text_of(certificate_text.get()), text_of(key_text.get())};
}

} // namespace

self_signed make_self_signed(const std::string& names, validity when)
{
    return make_certificate(names, when, nullptr);
}

self_signed make_signed(const self_signed& authority, const std::string& names, validity when)
{
    return make_certificate(names, when, &authority);
}

} // namespace tempinbox::testing
