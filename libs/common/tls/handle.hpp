#pragma once

#include <openssl/bio.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <memory>

namespace tempinbox::tls {

struct handle_deleter
{
    void operator()(BIO* file) const { BIO_free(file); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(STACK_OF(X509) * certificates) const
    {
        sk_X509_pop_free(certificates, X509_free);
    }
    void operator()(X509_STORE* authorities) const { X509_STORE_free(authorities); }
    void operator()(X509_STORE_CTX* verification) const { X509_STORE_CTX_free(verification); }
};

// Owns an object of OpenSSL, and what a stack of certificates holds.
template <class T>
using handle = std::unique_ptr<T, handle_deleter>;

} // namespace tempinbox::tls
