#pragma once

#include "common/metrics/registry.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace boost::asio::ssl {
class context;
}

namespace tempinbox::tls {

// A server's certificate and key (PEM files) for TLS 1.2 and later, re-read when either file
// changes. A pair that does not load, as between the two writes of a renewal, is logged and the old
// one stays in use. A metric shows when the certificate in use ends.
class certificate
{
public:
    using preparation = void (*)(boost::asio::ssl::context&);

    // `prepare` adds to each context what a single protocol needs. Throws std::runtime_error if the
    // files do not load.
    certificate(metrics::registry& metrics, std::string certificate_file, std::string key_file,
                preparation prepare);
    ~certificate();

    // Checks the files on each call: a few calls a second are fine. `context` is for new
    // connections; existing ones keep theirs.
    void reload_if_changed();
    const std::shared_ptr<boost::asio::ssl::context>& context() const { return context_; }

private:
    void load();

    metrics::registry& metrics_;
    std::string certificate_file_;
    std::string key_file_;
    preparation prepare_;
    std::string seen_;
    std::shared_ptr<boost::asio::ssl::context> context_;
};

} // namespace tempinbox::tls
