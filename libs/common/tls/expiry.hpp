#pragma once

#include "common/core/errors.hpp"
#include "common/core/time.hpp"
#include "common/metrics/registry.hpp"

#include <string>

namespace tempinbox::tls {

// When the first of a PEM file's certificates expires (notAfter, RFC 5280 4.1.2.5).
// invalid_argument if the file cannot be read or holds no certificate.
result<time_point> find_expiry(const std::string& file);

// Shows it as a metric of the setting that names the file; 0 where it cannot be found.
void show_expiry(metrics::registry& metrics, const std::string& setting, const std::string& file);

} // namespace tempinbox::tls
