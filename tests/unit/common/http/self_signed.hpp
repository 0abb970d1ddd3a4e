#pragma once

#include <chrono>
#include <string>

namespace tempinbox::testing {

// A certificate that vouches for itself, and its key, as PEM.
struct self_signed
{
    std::string certificate;
    std::string key;
};

// When a certificate is good, counted from now.
struct validity
{
    std::chrono::seconds from{-60};
    std::chrono::seconds until{3600};
};

// `names` is a subjectAltName such as "DNS:localhost,IP:127.0.0.1".
self_signed make_self_signed(const std::string& names, validity when = {});

// A certificate that an authority vouches for: one made above. For servers and clients.
self_signed make_signed(const self_signed& authority, const std::string& names, validity when = {});

} // namespace tempinbox::testing
