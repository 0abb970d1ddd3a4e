#pragma once

#include <string>

namespace tempinbox::testing {

// A certificate that vouches for itself, and its key, as PEM.
struct self_signed
{
    std::string certificate;
    std::string key;
};

// `names` is a subjectAltName such as "DNS:localhost,IP:127.0.0.1".
self_signed make_self_signed(const std::string& names);

} // namespace tempinbox::testing
