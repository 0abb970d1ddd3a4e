#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace boost::asio::ssl {
class context;
}

namespace tempinbox::http {

// A server's certificate and key (PEM files), re-read when either file changes. A pair that does not load, as between the two
// writes of a renewal, is logged and the old one stays in use.
class certificate
{
public:
    // Throws std::runtime_error when the files do not load.
    certificate(std::string certificate_file, std::string key_file);
    ~certificate();

    // The context for a new connection; connections keep the one they began with. Looks at the files on each call: a few a second
    // is fine.
    void reload_if_changed();
    const std::shared_ptr<boost::asio::ssl::context>& context() const { return context_; }

private:
    std::string certificate_file_;
    std::string key_file_;
    std::string seen_;
    std::shared_ptr<boost::asio::ssl::context> context_;
};

} // namespace tempinbox::http
